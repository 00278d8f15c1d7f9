import { getCookie } from "hono/cookie";
import type { SiteContext } from "./context.ts";

export type CookieName = "session" | "flash" | "oauth" | "device";

/**
 * With https the `__Host-` prefix binds a cookie to this host; it requires `Secure`. Plain http is for local
 * development, where browsers differ on `Secure`: there a cookie has neither.
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

/** A `Set-Cookie` value: hidden from scripts, not sent with forms of other sites. */
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
