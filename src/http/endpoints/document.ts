import type { Config } from "../../platform/config/config.ts";
import { type Endpoint, sendJson } from "../exchange.ts";

/** GET /openapi.json: rendered once per configuration, with the first request. */
export function retrieveDocument(
  { document }: { document: (config: Config) => unknown },
): Endpoint {
  let text: string | undefined;
  return function retrieveDocument(c) {
    text ??= JSON.stringify(document(c.env.config));
    return sendJson(text);
  };
}
