import { ApiError } from "../../lib/api_error.ts";
import type { Route } from "../../platform/config/config.ts";
import { acceptDrama } from "../../workflows/dramas/accept_drama.ts";
import type { DramaBody } from "../../workflows/dramas/check_drama.ts";
import { type IdempotencyIdentity, identifyRequest } from "../../domain/idempotency/key.ts";
import type { Endpoint } from "../exchange.ts";
import { readJson } from "../read_json.ts";
import { callOf, requestedModel, respondWithTask } from "./create_generation.ts";
import { generationRequest } from "./generation_requests.ts";
import type { TaskEndpointDeps } from "./tasks.ts";

/** POST /v1/dramas/generations */
export function createDrama(deps: TaskEndpointDeps, route: Route): Endpoint {
  const request = generationRequest(route)!;
  return async function createDrama(c) {
    const body = request.check(await readJson(c)) as unknown as DramaBody;
    const identity = businessIdentity(body, c.req.header("idempotency-key") ?? null, route.path);
    return await respondWithTask(deps, c, identity, async () => {
      const model = requestedModel(c, body.model, route);
      const call = callOf(c, identity, body.callback_url);
      return { model, created: await acceptDrama(deps.tasks, call, model, body) };
    });
  };
}

/** A drama is expensive and slow: its idempotency key is required. */
function businessIdentity(
  body: DramaBody,
  header: string | null,
  path: string,
): IdempotencyIdentity {
  const key = body.business_id ?? header;
  if (key === null) {
    throw new ApiError(
      "business_id_required",
      "Send business_id (your own id of this drama) or an Idempotency-Key, so that a repeated request " +
        "does not create a second drama.",
      { param: "business_id" },
    );
  }
  return identifyRequest(
    key,
    path,
    body,
    body.business_id === undefined ? undefined : "business_id",
  )!;
}
