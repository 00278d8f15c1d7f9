import { describeStorage } from "../../workflows/retention/describe_storage.ts";
import { sweepStorage } from "../../workflows/retention/sweep_storage.ts";
import { type Endpoint, sendJson } from "../exchange.ts";
import type { RouteDeps } from "../routes/route.ts";

/** GET /admin/v1/storage */
export function retrieveStorage({ retention }: RouteDeps): Endpoint {
  return async function retrieveStorage() {
    return sendJson(JSON.stringify(await describeStorage(retention)));
  };
}

/** POST /admin/v1/storage/sweep: what is done every hour, now. Answers when all of it is done. */
export function sweepStorageEndpoint({ retention }: RouteDeps): Endpoint {
  return async function sweepStorageEndpoint() {
    const swept = await sweepStorage(retention);
    return sendJson(JSON.stringify({ object: "storage_sweep", ...swept }));
  };
}
