import type { SiteContext } from "../context.ts";

/** The API's address as readers of this page reach it. */
export function apiUrl(c: SiteContext): string {
  return c.env.config.service.baseUrl ?? `${new URL(c.req.url).origin}/v1`;
}
