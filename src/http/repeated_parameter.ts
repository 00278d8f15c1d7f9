import { ApiError } from "../lib/api_error.ts";
import type { HttpContext } from "./exchange.ts";

/** Parameters that are lists. */
const LISTS = new Set(["include", "include[]"]);

/** A parameter of the query that a URL has twice; null where there is none. */
export function repeatedParameter(url: string): string | null {
  const start = url.indexOf("?");
  if (start === -1) return null;
  const seen = new Set<string>();
  for (const name of new URLSearchParams(url.slice(start + 1)).keys()) {
    if (seen.has(name) && !LISTS.has(name)) return name;
    seen.add(name);
  }
  return null;
}

/** Answering by one of two values would be a guess. */
export function refuseRepeated(c: HttpContext): never {
  const name = repeatedParameter(c.req.url)!.slice(0, 64);
  throw new ApiError("invalid_value", `${name} may be sent once: make a request for each value.`, {
    param: name,
  });
}
