import type { SiteContext } from "./context.ts";
import { siteOrigin } from "./forgery.ts";

/** The API's address for this reader: as declared, else beside the site they are looking at. */
export function baseUrlOf(c: SiteContext): string {
  return c.env.config.service.baseUrl ?? `${siteOrigin(c)}/v1`;
}
