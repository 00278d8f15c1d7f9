import { timingSafeEqual } from "node:crypto";
import type { Context, Next } from "hono";
import { ApiError } from "../lib/api_error.ts";
import type { SiteContext, SiteEnv } from "./context.ts";
import { readSiteForm } from "./form.ts";

/**
 * Lets a request that changes something through only when one of our own pages sent it: by where the
 * browser says it comes from, and, when somebody is signed in, by the token that only our pages have.
 */
export async function refuseForgery(c: Context<SiteEnv>, next: Next): Promise<void> {
  if (c.req.method !== "GET" && c.req.method !== "HEAD") {
    if (!isFromHere(c)) {
      throw new ApiError("invalid_value", "This form was not sent from a page of this site.", {
        kind: "forbidden",
      });
    }
    if (c.var.csrf !== "" && !isSame(await tokenOf(c), c.var.csrf)) {
      throw new ApiError(
        "invalid_value",
        "This form belongs to a session that has ended: go back, reload the page and send it again.",
        { kind: "forbidden" },
      );
    }
  }
  await next();
}

/** The address people reach this site at: as declared, else the one they used. */
export function siteOrigin(c: SiteContext): string {
  const { url } = c.env.config.site;
  return url === null ? new URL(c.req.url).origin : new URL(url).origin;
}

/**
 * Browsers say where a request comes from, and pages cannot change it. Who says nothing at all is no
 * browser of this decade, and has nobody's cookies.
 */
function isFromHere(c: SiteContext): boolean {
  const site = c.req.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin" || site === "none";
  const origin = c.req.header("origin");
  return origin === undefined || origin === siteOrigin(c) || origin === new URL(c.req.url).origin;
}

/** From the header, for scripts; else from the form, which the page's handler reads again for free. */
async function tokenOf(c: SiteContext): Promise<string> {
  const header = c.req.header("x-csrf-token");
  if (header !== undefined) return header;
  return (await readSiteForm(c)).csrf ?? "";
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((text) => new TextEncoder().encode(text));
  return a!.length === b!.length && timingSafeEqual(a!, b!);
}
