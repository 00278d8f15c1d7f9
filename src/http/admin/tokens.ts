import type { NewAdminToken } from "../../../schemas/requests.ts";
import { listAdminTokens } from "../../domain/accounts/admin_tokens.ts";
import { audited } from "../../domain/audit/audit.ts";
import { issueAdminToken, withdrawAdminToken } from "../../workflows/accounts/manage_keys.ts";
import { actorOf } from "./actor.ts";
import { type BodyEndpoint, type Endpoint, sendJson } from "../exchange.ts";
import { sendJsonPage } from "../paging.ts";
import type { RouteDeps } from "../routes/route.ts";

/** POST /admin/v1/tokens: the only response that contains the token. */
export function createToken(deps: RouteDeps): BodyEndpoint<NewAdminToken> {
  return async function createToken(c, body) {
    const token = await audited(deps, actorOf(c), (change) => issueAdminToken(change, body));
    return sendJson(JSON.stringify(token), 201, { "cache-control": "no-store" });
  };
}

/** GET /admin/v1/tokens */
export function listTokens({ database }: RouteDeps): Endpoint {
  return async function listTokens() {
    return sendJsonPage(await listAdminTokens(database.sql), false);
  };
}

/** DELETE /admin/v1/tokens/{id}: no node accepts it any more. */
export function revokeToken(deps: RouteDeps): Endpoint {
  return async function revokeToken(c) {
    const id = c.req.param("id") ?? "";
    const token = await audited(deps, actorOf(c), (change) => withdrawAdminToken(change, id));
    return sendJson(JSON.stringify(token));
  };
}
