import { ApiError } from "../lib/api_error.ts";
import type { Endpoint } from "./exchange.ts";

/** Rejects every other method and names the allowed ones. */
export function methodNotAllowed(methods: readonly string[]): Endpoint {
  const allow = (methods.includes("GET") ? [...methods, "HEAD"] : methods).join(", ");
  return function methodNotAllowed() {
    throw new ApiError(
      "method_not_allowed",
      `Method not allowed. This endpoint accepts ${allow}.`,
      { cause: allow },
    );
  };
}
