import { timingSafeEqual } from "node:crypto";
import {
  type AdminAccess,
  type AdminToken,
  authenticateAdminToken,
} from "../../domain/accounts/admin_tokens.ts";
import { hashKey } from "../../domain/accounts/api_keys.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Database } from "../../platform/database/database.ts";
import { readBearerToken } from "../authenticate.ts";
import type { Endpoint, HttpContext } from "../exchange.ts";

/** Who calls the admin API: the holder of the root token, or of one with scopes. */
export type AdminCaller = "root" | AdminToken;

export interface AdminAuthDeps {
  database: Database;
  /** The root token. */
  adminToken: string;
  /** Reads `/metrics` and nothing else. */
  metricsToken: string | undefined;
}

/** Lets only requests with an admin token pass that has the scope; null: any valid token. Or with `other`. */
export function requireAdminToken(
  { database, adminToken }: AdminAuthDeps,
): (endpoint: Endpoint, access: AdminAccess | null, other?: string) => Endpoint {
  // Digests have equal length, so the comparison takes the same time for every input.
  const digest = (text: string) => new TextEncoder().encode(hashKey(text));
  const root = digest(adminToken);
  return (endpoint, access, other) => {
    const otherDigest = other === undefined ? null : digest(other);
    return function adminEndpoint(c) {
      const token = readBearerToken(c.req.raw.headers, "admin token");
      const given = digest(token);
      if (otherDigest !== null && timingSafeEqual(given, otherDigest)) return endpoint(c);
      // The root token works without the database.
      if (timingSafeEqual(given, root)) {
        c.env.adminCaller = "root";
        return endpoint(c);
      }
      return authenticateAdminToken(database.sql, token).then((found) => {
        if (found === null) {
          throw new ApiError(
            "invalid_api_key",
            "Invalid admin token: it may be mistyped or revoked. The root token is ADMIN_TOKEN.",
          );
        }
        c.env.adminCaller = found;
        if (access !== null) requireScope(c, access);
        return endpoint(c);
      });
    };
  };
}

/** Throws unless the caller has this scope. The root token has every one. */
export function requireScope(c: HttpContext, access: AdminAccess, param?: string): void {
  const caller = adminCallerOf(c);
  if (caller === "root" || (access !== "root" && caller.scopes.includes(access))) return;
  throw new ApiError(
    "insufficient_scope",
    access === "root"
      ? "Only the root token, ADMIN_TOKEN, may do this."
      : `This admin token lacks the scope "${access}": it has ${caller.scopes.join(", ")}.`,
    param === undefined ? {} : { param },
  );
}

/** The caller of an endpoint of the admin API. */
export function adminCallerOf(c: HttpContext): AdminCaller {
  if (c.env.adminCaller === null) throw new Error("this endpoint is not behind the admin token");
  return c.env.adminCaller;
}
