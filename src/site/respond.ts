import type { Flash, SiteContext } from "./context.ts";
import { cookieText } from "./cookies.ts";

/** The Content-Security-Policy: pages load from this origin only and cannot be framed. */
function policy({ connect = "", form = "" }: { connect?: string; form?: string } = {}): string {
  const source = (more: string) => more === "" ? "'self'" : `'self' ${more}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self'",
    `connect-src ${source(connect)}`,
    `form-action ${source(form)}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}

const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  // Not no-referrer: browsers would then send `Origin: null` with our own forms.
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "x-frame-options": "DENY",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=()",
};
const PLAIN_POLICY = policy();

export function sendHtml(
  html: string,
  status: number,
  reach?: { connect?: string; form?: string },
): Response {
  return new Response(html, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": reach === undefined ? PLAIN_POLICY : policy(reach),
      // Pages contain data of the signed-in person.
      "cache-control": "private, no-store",
      ...SECURITY_HEADERS,
    },
  });
}

/** Redirects after a form with 303: the browser continues with GET, and reloading repeats nothing. */
export function seeOther(location: string, headers: Record<string, string> = {}): Response {
  return new Response(null, {
    status: 303,
    headers: { location, "cache-control": "no-store", ...SECURITY_HEADERS, ...headers },
  });
}

/** Redirects, with a message on the page that follows. */
export function seeOtherWith(
  c: SiteContext,
  location: string,
  kind: Flash["kind"],
  text: string,
): Response {
  return addFlash(c, seeOther(location), kind, text);
}

/** Adds a message for the page that follows. */
export function addFlash(
  c: SiteContext,
  response: Response,
  kind: Flash["kind"],
  text: string,
): Response {
  const value = encodeURIComponent(JSON.stringify({ kind, text }));
  response.headers.append("set-cookie", cookieText(c, "flash", value, { maxAgeSeconds: 60 }));
  return response;
}

/** JSON for our own scripts. */
export function sendSiteJson(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    },
  });
}
