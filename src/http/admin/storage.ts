import { writeAudit } from "../../domain/audit/audit.ts";
import { describeStorage } from "../../workflows/retention/describe_storage.ts";
import { sweepStorage } from "../../workflows/retention/sweep_storage.ts";
import { actorOf } from "./actor.ts";
import { type Endpoint, sendJson } from "../exchange.ts";
import type { RouteDeps } from "../routes/route.ts";

/** GET /admin/v1/storage */
export function retrieveStorage({ retention }: RouteDeps): Endpoint {
  return async function retrieveStorage() {
    return sendJson(JSON.stringify(await describeStorage(retention)));
  };
}

/** POST /admin/v1/storage/sweep: what is done every hour, now. Answers when all of it is done. */
export function sweepStorageEndpoint({ retention, database }: RouteDeps): Endpoint {
  return async function sweepStorageEndpoint(c) {
    const swept = await sweepStorage(retention);
    await writeAudit(database.sql, actorOf(c), {
      action: "storage.sweep",
      subject: null,
      after: swept,
    });
    return sendJson(JSON.stringify({ object: "storage_sweep", ...swept }));
  };
}
