import { ApiError } from "../lib/api_error.ts";
import type { HttpContext } from "./exchange.ts";

/** A query parameter that must be one of these, where it is sent. */
export function readChoice<T extends string>(
  c: HttpContext,
  name: string,
  known: readonly T[],
): T | undefined {
  const value = c.req.query(name);
  if (value === undefined || (known as readonly string[]).includes(value)) {
    return value as T | undefined;
  }
  throw new ApiError("invalid_value", `${name} must be one of ${known.join(", ")}.`, {
    param: name,
  });
}
