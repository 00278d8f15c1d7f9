import { findKey } from "../../domain/accounts/api_keys.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Database } from "../../platform/database/database.ts";
import { type Endpoint, sendJson } from "../exchange.ts";

/** GET /v1/key: shows a key to itself. */
export function retrieveKey({ database }: { database: Database }): Endpoint {
  return async function retrieveKey(c) {
    const { logged } = c.env;
    // The console calls as an account, without a key.
    if (logged === null || logged.key === null) {
      throw new ApiError("not_found", "This request was made without an API key.");
    }
    return sendJson(JSON.stringify(await findKey(database.sql, logged.key)));
  };
}
