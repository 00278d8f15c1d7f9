import { timingSafeEqual } from "node:crypto";
import type { Context, Next } from "hono";
import { ApiError } from "../lib/api_error.ts";
import type { SiteContext, SiteEnv } from "./context.ts";
import { readSiteForm } from "./form.ts";
import { siteOrigin } from "./base_url.ts";

/**
 * Rejects cross-site request forgery: a request that changes something must come from this origin and, in a
 * session, carry the session's token.
 */
export async function rejectForgery(c: Context<SiteEnv>, next: Next): Promise<void> {
  if (c.req.method !== "GET" && c.req.method !== "HEAD") {
    if (!isSameOrigin(c)) {
      throw new ApiError("invalid_value", "This form was not sent from this site.", {
        kind: "forbidden",
      });
    }
    if (c.var.csrf !== "" && !isEqual(await csrfTokenOf(c), c.var.csrf)) {
      throw new ApiError(
        "invalid_value",
        "Your session has changed. Go back, reload the page and try again.",
        { kind: "forbidden" },
      );
    }
  }
  await next();
}

/**
 * Browsers set these headers themselves; pages cannot change them. A client that sends neither is no current
 * browser, so no other site can have made it send cookies.
 */
function isSameOrigin(c: SiteContext): boolean {
  const site = c.req.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin" || site === "none";
  const origin = c.req.header("origin");
  return origin === undefined || origin === siteOrigin(c) || origin === new URL(c.req.url).origin;
}

/** From the header, for scripts; else from the form, which is parsed once per request. */
async function csrfTokenOf(c: SiteContext): Promise<string> {
  const header = c.req.header("x-csrf-token");
  if (header !== undefined) return header;
  return (await readSiteForm(c)).csrf ?? "";
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((text) => new TextEncoder().encode(text));
  return a!.length === b!.length && timingSafeEqual(a!, b!);
}
