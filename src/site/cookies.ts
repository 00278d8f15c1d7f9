import { getCookie } from "hono/cookie";
import type { SiteContext } from "./context.ts";

export type CookieName = "session" | "flash" | "oauth" | "device";

/**
 * With https a cookie is bound to exactly this host by its `__Host-` prefix, which demands `Secure`.
 * Plain http is for a machine of one's own, where browsers disagree about `Secure`: there it has neither.
 */
export function isSecure(c: SiteContext): boolean {
  return c.env.config.site.url?.startsWith("https:") ?? false;
}

function nameOf(c: SiteContext, name: CookieName): string {
  return `${isSecure(c) ? "__Host-" : ""}tollgate_${name}`;
}

export function readCookie(c: SiteContext, name: CookieName): string | undefined {
  return getCookie(c, nameOf(c, name));
}

/** A `Set-Cookie`. Scripts never see it; other sites' forms never send it. */
export function cookieText(
  c: SiteContext,
  name: CookieName,
  value: string,
  { maxAgeSeconds }: { maxAgeSeconds: number },
): string {
  const secure = isSecure(c) ? "; Secure" : "";
  return `${
    nameOf(c, name)
  }=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

export function setCookie(
  c: SiteContext,
  name: CookieName,
  value: string,
  options: { maxAgeSeconds: number },
): void {
  c.header("set-cookie", cookieText(c, name, value, options), { append: true });
}
