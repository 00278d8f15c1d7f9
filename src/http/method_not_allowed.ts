import { ApiError } from "../lib/api_error.ts";
import type { Endpoint } from "./exchange.ts";

/** The refusal of every other method, naming those that an address takes. */
export function methodNotAllowed(methods: readonly string[]): Endpoint {
  const allow = (methods.includes("GET") ? [...methods, "HEAD"] : methods).join(", ");
  return function methodNotAllowed() {
    throw new ApiError("method_not_allowed", `This endpoint takes ${allow}.`, { cause: allow });
  };
}
