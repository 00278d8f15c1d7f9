import { timingSafeEqual } from "node:crypto";
import { hashKey } from "../../domain/accounts/api_keys.ts";
import { ApiError } from "../../lib/api_error.ts";
import { readBearerToken } from "../authenticate.ts";
import type { Endpoint } from "../exchange.ts";

/** Lets only requests with one of the operator's tokens pass. */
export function requireAdminToken(tokens: readonly string[]): (endpoint: Endpoint) => Endpoint {
  // Digests have equal length, so the comparison takes the same time for every input.
  const digest = (text: string) => new TextEncoder().encode(hashKey(text));
  const expected = tokens.map(digest);
  return (endpoint) =>
    function adminEndpoint(c) {
      const given = digest(readBearerToken(c.req.raw.headers, "admin token"));
      if (!expected.some((token) => timingSafeEqual(given, token))) {
        throw new ApiError("invalid_api_key", "Invalid admin token: see ADMIN_TOKEN.");
      }
      return endpoint(c);
    };
}
