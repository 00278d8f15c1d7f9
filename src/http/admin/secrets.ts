import { resealSecrets } from "../../platform/secrets/reseal.ts";
import { writeAudit } from "../../domain/audit/audit.ts";
import { actorOf } from "./actor.ts";
import { ApiError } from "../../lib/api_error.ts";
import { type Endpoint, sendJson } from "../exchange.ts";
import type { RouteDeps } from "../routes/route.ts";

/** POST /admin/v1/secrets/rotate: seals every stored secret with the first key of SECRETS_KEY. */
export function rotateSecrets({ webhooks: { sql, secretBox }, responses }: RouteDeps): Endpoint {
  return async function rotateSecrets(c) {
    if (!secretBox.hasKey) {
      throw new ApiError("invalid_value", "SECRETS_KEY is not set: there is no key to seal with.");
    }
    const done = await resealSecrets(sql, secretBox, [responses.store.sealedColumn]);
    await writeAudit(sql, actorOf(c), { action: "secrets.rotate", subject: null, after: done });
    return sendJson(JSON.stringify({ object: "secrets_rotation", ...done }));
  };
}
