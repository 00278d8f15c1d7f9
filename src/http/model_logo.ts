import type { Model } from "../platform/config/config.ts";
import type { HttpContext } from "./exchange.ts";

/** The JSON of a model, with the URL of a logo that this service makes where the configuration has none. */
export function withLogo(
  c: HttpContext,
  { id, logo }: Pick<Model, "id" | "logo">,
  json: string,
): string {
  if (logo !== null) return json;
  const base = c.env.config.service.baseUrl?.replace(/\/v1$/, "") ?? new URL(c.req.url).origin;
  const url = `${base}/logos/${encodeURIComponent(id)}.svg`;
  // The first match is the field: quotes in a text before it would be escaped.
  return json.replace('"logo":""', () => `"logo":${JSON.stringify(url)}`);
}
