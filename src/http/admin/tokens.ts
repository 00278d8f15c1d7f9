import type { NewAdminToken } from "../../../schemas/requests.ts";
import {
  createAdminToken,
  listAdminTokens,
  revokeAdminToken,
} from "../../domain/accounts/admin_tokens.ts";
import { type BodyEndpoint, type Endpoint, sendJson } from "../exchange.ts";
import { sendJsonPage } from "../paging.ts";
import type { RouteDeps } from "../routes/route.ts";

/** POST /admin/v1/tokens: the only response that contains the token. */
export function createToken({ database }: RouteDeps): BodyEndpoint<NewAdminToken> {
  return async function createToken(_c, body) {
    const token = await createAdminToken(database.sql, body);
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
export function revokeToken({ database }: RouteDeps): Endpoint {
  return async function revokeToken(c) {
    const token = await revokeAdminToken(database.sql, c.req.param("id") ?? "");
    return sendJson(JSON.stringify(token));
  };
}
