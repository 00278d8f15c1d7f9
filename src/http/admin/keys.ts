import type { NewKey } from "../../../schemas/requests.ts";
import { findAccount } from "../../domain/accounts/accounts.ts";
import { checkKeyName, listKeys } from "../../domain/accounts/api_keys.ts";
import { audited } from "../../domain/audit/audit.ts";
import { requireKnownModels } from "../../domain/accounts/key_restrictions.ts";
import { ApiError } from "../../lib/api_error.ts";
import { changeKey, issueKey, withdrawKey } from "../../workflows/accounts/manage_keys.ts";
import { type BodyEndpoint, type Endpoint, sendJson } from "../exchange.ts";
import { actorOf } from "./actor.ts";
import { sendJsonPage } from "../paging.ts";
import type { RouteDeps } from "../routes/route.ts";

/** POST /admin/v1/accounts/{id}/keys: the only response that contains the key. */
export function createKeyEndpoint(deps: RouteDeps): BodyEndpoint<NewKey> {
  return async function createKeyEndpoint(c, body) {
    checkKeyName(body.name);
    requireKnownModels(c.env.config.models, body.models);
    const account = c.req.param("id") ?? "";
    const key = await audited(deps, actorOf(c), (change) => issueKey(change, { ...body, account }));
    return sendJson(JSON.stringify(key), 201, { "cache-control": "no-store" });
  };
}

/** GET /admin/v1/accounts/{id}/keys */
export function listKeysEndpoint({ database }: RouteDeps): Endpoint {
  return async function listKeysEndpoint(c) {
    const account = await findAccount(database.sql, c.req.param("id") ?? "");
    return sendJsonPage(await listKeys(database.sql, account.id), false);
  };
}

/** PATCH /admin/v1/keys/{id}: responds when every node acts on the change. */
export function updateKeyEndpoint(deps: RouteDeps): BodyEndpoint<Partial<NewKey>> {
  return async function updateKeyEndpoint(c, body) {
    if (body.name !== undefined) checkKeyName(body.name);
    requireKnownModels(c.env.config.models, body.models);
    if (Object.keys(body).length === 0) {
      throw new ApiError("missing_field", "Name at least one field to change.");
    }
    const id = c.req.param("id") ?? "";
    const key = await audited(deps, actorOf(c), (change) => changeKey(change, id, body));
    return sendJson(JSON.stringify(key));
  };
}

/** DELETE /admin/v1/keys/{id}: responds when no node accepts the key any more. */
export function revokeKeyEndpoint(deps: RouteDeps): Endpoint {
  return async function revokeKeyEndpoint(c) {
    const id = c.req.param("id") ?? "";
    const key = await audited(deps, actorOf(c), (change) => withdrawKey(change, id));
    return sendJson(JSON.stringify(key));
  };
}
