import { ApiError } from "../../lib/api_error.ts";
import type { Route } from "../../platform/config/config.ts";
import { acceptDrama } from "../../workflows/dramas/accept_drama.ts";
import type { DramaBody } from "../../workflows/dramas/check_drama.ts";
import { type IdempotencyIdentity, identifyRequest } from "../../domain/idempotency/key.ts";
import type { Endpoint } from "../exchange.ts";
import { readJson } from "../read_json.ts";
import { answerWithTask, callOf, requestedModel } from "./create_generation.ts";
import { GENERATION_REQUESTS } from "./generation_requests.ts";
import type { TaskEndpointDeps } from "./tasks.ts";

/** POST /v1/dramas/generations. The story is in dramas/. */
export function createDrama(deps: TaskEndpointDeps, route: Route): Endpoint {
  const request = GENERATION_REQUESTS.get(route.request!)!;
  return async function createDrama(c) {
    const body = request.check(await readJson(c)) as unknown as DramaBody;
    const identity = businessIdentity(body, c.req.header("idempotency-key") ?? null, route.path);
    return await answerWithTask(deps, c, identity, async () => {
      const model = requestedModel(c, body.model, route);
      const call = callOf(c, identity, body.callback_url);
      return { model, created: await acceptDrama(deps.tasks, call, model, body) };
    });
  };
}

/** A drama is dear and takes long: what makes it the same one twice must be said. */
function businessIdentity(
  body: DramaBody,
  header: string | null,
  path: string,
): IdempotencyIdentity {
  const key = body.business_id ?? header;
  if (key === null) {
    throw new ApiError(
      "business_id_required",
      "Send business_id, your own id of this drama, or an Idempotency-Key: it keeps a repeated " +
        "request from making a second one.",
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
