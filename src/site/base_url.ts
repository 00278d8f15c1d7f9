import type { SiteContext } from "./context.ts";

/** The origin that people reach this site at: as configured, else the one of the request. */
export function siteOrigin(c: SiteContext): string {
  const { url } = c.env.config.site;
  return url === null ? new URL(c.req.url).origin : new URL(url).origin;
}

/** The base URL of the API for examples: as configured, else beside the site. */
export function baseUrlOf(c: SiteContext): string {
  return c.env.config.service.baseUrl ?? `${siteOrigin(c)}/v1`;
}
