import { Hono } from "hono";
import { ApiError } from "../lib/api_error.ts";
import type { Config, Route } from "../platform/config/config.ts";
import { mountAdmin } from "./admin/mount.ts";
import type { AdminDeps } from "./admin/mount.ts";
import { mountCallbacks } from "./endpoints/callbacks.ts";
import { mountContent } from "./endpoints/content.ts";
import { notReleased } from "./endpoints/create_generation.ts";
import { type OperationDeps, OPERATIONS } from "./endpoints/operations.ts";
import { noticeHeaders } from "./endpoints/retrieve_model.ts";
import type { Endpoint, Env, HttpExchange } from "./exchange.ts";
import { authenticated, type AuthenticateDeps } from "./authenticate.ts";
import { methodNotAllowed } from "./method_not_allowed.ts";
import { openapi } from "./openapi.ts";

export interface AppDeps extends AuthenticateDeps, AdminDeps, OperationDeps {
  /** Answers whatever is not the API: pages for people. */
  site: (request: Request, exchange: HttpExchange) => Response | Promise<Response>;
}

/**
 * The handlers of one plan. A reload builds the next ones beside it; requests under way stay here.
 *
 * Two routers: the first holds exactly what exists, so that a good request meets one handler and no
 * chain. Whatever it does not know goes to the second, which tells an unknown endpoint, a wrong method
 * and a planned one apart.
 */
export function buildApp(config: Config, deps: AppDeps): Hono<Env> {
  const app = new Hono<Env>();
  const refusals = new Hono<Env>();
  for (const route of config.routes) mountRoute(app, refusals, route, deps);
  mountAdmin(app, refusals, deps);
  mountContent(app, refusals, deps.files);
  mountCallbacks(app, refusals, deps.tasks);
  mountDocument(app, config);
  refusals.all("/v1", authenticated(deps, "/v1/*", unknownEndpoint));
  refusals.all("/v1/*", authenticated(deps, "/v1/*", unknownEndpoint));
  refusals.notFound((c) => deps.site(c.req.raw, c.env));
  app.notFound((c) => refusals.fetch(c.req.raw, c.env));
  // Thrown on to the front, which renders every error in one place.
  for (const router of [app, refusals]) {
    router.onError((error) => {
      throw error;
    });
  }
  return app;
}

function mountRoute(app: Hono<Env>, refusals: Hono<Env>, route: Route, deps: AppDeps): void {
  const path = "/v1" + route.path.replace(/\{([^{}]*)\}/g, ":$1");
  if (route.stage === "planned") {
    const planned = authenticated(deps, route.path, () => {
      throw notReleased(route);
    });
    refusals.all(path, planned);
    refusals.all(`${path}/*`, planned);
    return;
  }
  const mounts = OPERATIONS.get(route.operation)!(deps, route);
  const byPath = Map.groupBy(mounts, (mount) => path + mount.path);
  for (const [address, methods] of byPath) {
    for (const { method, endpoint } of methods) {
      app.on(method, address, authenticated(deps, route.path, announced(route, endpoint)));
    }
    const allowed = methods.map(({ method }) => method);
    refusals.all(address, authenticated(deps, route.path, methodNotAllowed(allowed)));
  }
}

/** Adds the headers of a route that is on its way out; most are not, and pass as they are. */
function announced(route: Route, endpoint: Endpoint): Endpoint {
  const headers = noticeHeaders(route);
  if (headers === undefined) return endpoint;
  return async function announcedEndpoint(c) {
    const response = await endpoint(c);
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  };
}

function unknownEndpoint(): never {
  throw new ApiError(
    "unknown_endpoint",
    "There is no such endpoint: /openapi.json lists those there are.",
  );
}

/** Written once per plan, when somebody first asks. */
function mountDocument(app: Hono<Env>, config: Config): void {
  let text: string | undefined;
  app.get("/openapi.json", (c) => {
    c.env.route = "/openapi.json";
    text ??= JSON.stringify(openapi(config));
    return new Response(text, { headers: { "content-type": "application/json; charset=utf-8" } });
  });
}
