import type { HttpContext } from "./exchange.ts";
import { readJson } from "./read_json.ts";
import type { RequestBody } from "./request_body.ts";

/** The JSON body of a request, not checked yet. */
export function readBody(
  c: HttpContext,
  { isOptional, valuesMin }: Pick<RequestBody<unknown>, "isOptional" | "valuesMin">,
): unknown {
  return isOptional && !hasBody(c) ? {} : readJson(c, valuesMin);
}

function hasBody(c: HttpContext): boolean {
  const { headers } = c.req.raw;
  return headers.get("content-length") !== "0" &&
    (headers.has("content-length") || headers.has("transfer-encoding"));
}
