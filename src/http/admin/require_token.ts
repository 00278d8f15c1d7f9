import { timingSafeEqual } from "node:crypto";
import { hashKey } from "../../domain/accounts/api_keys.ts";
import { ApiError } from "../../lib/api_error.ts";
import { readBearerToken } from "../authenticate.ts";
import type { Endpoint } from "../exchange.ts";

/** Lets only requests with the admin token pass. */
export function requireAdminToken(token: string): (endpoint: Endpoint) => Endpoint {
  // Digests have equal length, so the comparison takes the same time for every input.
  const digest = (text: string) => new TextEncoder().encode(hashKey(text));
  const expected = digest(token);
  return (endpoint) =>
    function adminEndpoint(c) {
      if (!timingSafeEqual(digest(readBearerToken(c.req.raw.headers, "admin token")), expected)) {
        throw new ApiError("invalid_api_key", "Invalid admin token: see ADMIN_TOKEN.");
      }
      return endpoint(c);
    };
}
