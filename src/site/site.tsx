import { Hono } from "hono";
import { ApiError } from "../lib/api_error.ts";
import type { Config } from "../platform/config/config.ts";
import { sendAsset } from "./assets.ts";
import { mountConsole } from "./console/mount.tsx";
import type { SiteContext, SiteDeps, SiteEnv, SiteExchange } from "./context.ts";
import { mountDocs } from "./docs/mount.ts";
import { rejectForgery } from "./csrf.ts";
import { FAVICON } from "./logo.tsx";
import { mountAccount } from "./pages/account.tsx";
import { mountConnect } from "./pages/connect.tsx";
import { sendErrorPage } from "./pages/error_page.tsx";
import { landing } from "./pages/landing.tsx";
import { mountOAuth } from "./pages/oauth.tsx";
import { mountSignIn } from "./pages/sign_in.ts";
import { transportSecurity } from "./transport_security.ts";
import { loadSession, requireSignIn } from "./visitor.ts";

export type SiteHandler = (
  request: Request,
  exchange: SiteExchange,
) => Response | Promise<Response>;

/** Everything that is not the API: pages and their assets. */
export function buildSite(config: Config, deps: SiteDeps): SiteHandler {
  const site = new Hono<SiteEnv>();
  site.onError((error, c) => {
    const apiError = deps.toApiError(error);
    c.env.errorCode = apiError.code;
    if (apiError.isServerError && apiError.cause !== undefined) {
      deps.log.error("page failed", { request_id: c.env.requestId, error: apiError.cause });
    }
    return sendErrorPage(c, apiError);
  });
  site.notFound(notFound);

  site.get("/assets/*", (c) => {
    c.env.route = "/assets/*";
    return sendAsset(c.req.path, c.req.header("accept-encoding") ?? "") ?? notFound(c);
  });
  site.get("/favicon.svg", favicon);
  site.get("/favicon.ico", favicon);
  site.get("/robots.txt", () =>
    new Response("User-agent: *\nDisallow: /console\n", {
      headers: { "x-content-type-options": "nosniff" },
    }));

  site.use(async (c, next) => {
    await next();
    // Metrics are labelled with the route pattern, never with the path of the request.
    c.env.route = c.req.routePath === "*" || c.req.routePath === "/*" ? "page" : c.req.routePath;
  });
  site.use(loadSession(deps));
  site.use(rejectForgery);
  site.use("/console/*", requireSignIn);
  site.use("/account/*", requireSignIn);

  site.get("/", landing);
  mountSignIn(site, deps);
  mountOAuth(site, deps);
  mountConnect(site, deps);
  mountAccount(site, deps);
  mountDocs(site, deps);
  mountConsole(site, deps);
  const security = transportSecurity(config.site.url);
  if (security === null) return (request, exchange) => site.fetch(request, exchange);
  return async (request, exchange) => {
    const response = await site.fetch(request, exchange);
    response.headers.set("strict-transport-security", security);
    return response;
  };
}

/** Browsers get a page, other clients an error body as the API has it. */
function notFound(c: SiteContext): Response {
  const wantsPage = c.req.header("accept")?.includes("text/html") ?? false;
  const apiError = new ApiError(
    "unknown_endpoint",
    wantsPage
      ? "This page does not exist or has moved."
      : "There is no such endpoint. /openapi.json lists all endpoints.",
  );
  c.env.errorCode = apiError.code;
  return sendErrorPage(c, apiError);
}

function favicon(c: SiteContext): Response {
  c.env.route = "/favicon";
  return new Response(FAVICON, {
    headers: {
      "content-type": "image/svg+xml",
      "cache-control": "public, max-age=86400",
      "x-content-type-options": "nosniff",
    },
  });
}
