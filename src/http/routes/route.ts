import type { Cluster } from "../../platform/cluster/cluster.ts";
import type { Config, Route as ConfiguredRoute } from "../../platform/config/config.ts";
import type { ConfigStore } from "../../platform/config/config_store.ts";
import type { ModelType } from "../../model_types/model_types.ts";
import type { Database } from "../../platform/database/postgres.ts";
import type { Metrics } from "../../platform/telemetry/metrics.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import type { Webhooks } from "../../domain/webhooks/webhooks.ts";
import type { AdminAccess } from "../../domain/accounts/admin_tokens.ts";
import { noteBody } from "../../domain/requests/note_body.ts";
import type { PeopleDeps } from "../admin/people.ts";
import type { ChatEndpointDeps } from "../endpoints/answer_chat.ts";
import type { RequestEndpointDeps } from "../endpoints/requests.ts";
import type { ResponsesDeps } from "../endpoints/stored_responses.ts";
import type { FilesDeps } from "../endpoints/files.ts";
import type { TaskEndpointDeps } from "../endpoints/tasks.ts";
import type { BodyEndpoint, Endpoint } from "../exchange.ts";
import type { HealthProbe, ProbeDeps } from "../health.ts";
import { readBody } from "../read_body.ts";
import type { RequestBody } from "../request_body.ts";
import type { RouteParameter } from "./parameters.ts";
import type { RetentionDeps } from "../../workflows/retention/sweep_storage.ts";
import type { SchemaName } from "./schemas.ts";

/** What the handlers of all routes need. */
export interface RouteDeps
  extends
    PeopleDeps,
    ChatEndpointDeps,
    FilesDeps,
    RequestEndpointDeps,
    ResponsesDeps,
    TaskEndpointDeps {
  database: Database;
  cluster: Cluster;
  configStore: ConfigStore;
  metrics: Metrics;
  retention: RetentionDeps;
  upstreams: Upstreams;
  webhooks: Webhooks;
  /** The OpenAPI document of a configuration. */
  document(config: Config): unknown;
}

/** How a request proves that it may be made. Routes with signed URLs check the signature themselves. */
export type RouteAuth = "api_key" | "admin_token" | "metrics_token" | "signed_url" | "none";

/** Who may use a route. A route of the admin API says which scope a token needs: without it, it does not compile. */
export type RouteAccess =
  | { readonly auth: "admin_token" | "metrics_token"; readonly scope: AdminAccess }
  | {
    readonly auth: Exclude<RouteAuth, "admin_token" | "metrics_token">;
    readonly scope?: undefined;
  };

/** What clients are told about a route: /openapi.json and the documentation are made of it. */
export interface RouteDescription<Body> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Parameters are in braces: `/files/{file_id}`. */
  readonly path: string;
  readonly auth: RouteAuth;
  /** What a token needs, on a route of the admin API. */
  readonly scope?: AdminAccess | undefined;
  /** A few words that begin with a verb, without a full stop. */
  readonly summary: string;
  /** What the summary does not say, in whole sentences. */
  readonly description?: string;
  /** Of the path, the query and the headers. */
  readonly parameters?: readonly RouteParameter[];
  /** Successful responses by status. Errors look the same everywhere. */
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** A request that works as it is, once its ids are replaced (`sample_ids.ts`). A test sends it. */
  readonly example: RouteExample<Body>;
}

export interface RouteResponse {
  readonly description: string;
  /** Media types, each with the schema of a JSON body or null for anything else. */
  readonly content: Readonly<Record<string, SchemaName | null>>;
}

export interface RouteExample<Body> {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Body;
}

/** A JSON body is read and checked before the handler is called; a form is read by the handler itself. */
type Handling<Body, Place extends unknown[]> =
  | {
    readonly request: RequestBody<Body>;
    readonly handler: (deps: RouteDeps, ...place: Place) => BodyEndpoint<Body>;
  }
  | {
    readonly request?: undefined;
    /** Schema of a multipart form. */
    readonly form?: SchemaName;
    readonly handler: (deps: RouteDeps, ...place: Place) => Endpoint;
  };

/**
 * The place of a route that the configuration decides. `path` is under /v1, as in a configuration without
 * `routes`. The first route of an operation has the path that the configuration may change; the paths of the
 * others begin with it.
 */
interface OperationPlace<Body> {
  /** What `routes` of the configuration calls it. */
  readonly operation: string;
  /** The model type that it serves, where it serves one. */
  readonly serves?: ModelType;
  /** The request is charged: an account without funds may not send a large body. */
  readonly isCharged?: boolean;
  /** The body for a configured route; undefined where it names none. */
  readonly requestFor?: (configured: ConfiguredRoute) => RequestBody<Body> | undefined;
}

/** What a route takes, once its handler is bound to it. */
interface Taken {
  readonly request?: RequestBody<unknown>;
  readonly form?: SchemaName;
}

/** A route whose place the configuration decides: it names the operation and its path. */
export interface OperationRoute extends RouteDescription<unknown>, OperationPlace<unknown>, Taken {
  open(deps: RouteDeps, configured: ConfiguredRoute): Endpoint;
}

/** A route that every configuration has, at the same path. */
export interface FixedRoute extends RouteDescription<unknown>, Taken {
  readonly operation?: undefined;
  open(deps: RouteDeps): Endpoint;
}

/** A route that answers before there is a configuration or a database: no router is involved. */
export interface ProbeRoute extends RouteDescription<unknown> {
  readonly operation?: undefined;
  readonly request?: undefined;
  readonly form?: undefined;
  readonly probe: (deps: ProbeDeps) => HealthProbe;
}

export type ApiRoute = OperationRoute | FixedRoute | ProbeRoute;

/** Routes that belong together: one file of this folder, one group in the documentation. */
export interface RouteArea {
  readonly title: string;
  readonly routes: readonly ApiRoute[];
}

export function operationRoute<Body = undefined>(
  spec:
    & RouteDescription<Body>
    & RouteAccess
    & OperationPlace<Body>
    & Handling<Body, [ConfiguredRoute]>,
): OperationRoute {
  return {
    ...spec,
    open(deps, configured) {
      if (spec.request === undefined) return spec.handler(deps, configured);
      const request = configuredBody(spec, configured) ?? spec.request;
      return withBody(request, spec.handler(deps, configured));
    },
  };
}

export function fixedRoute<Body = undefined>(
  spec: RouteDescription<Body> & RouteAccess & Handling<Body, []>,
): FixedRoute {
  return {
    ...spec,
    open: (deps) =>
      spec.request === undefined ? spec.handler(deps) : withBody(spec.request, spec.handler(deps)),
  };
}

/** The body of a route at its place in the configuration, which may name another schema than the route's own. */
export function configuredBody<Body>(
  { request, requestFor }: {
    readonly request?: RequestBody<Body>;
    readonly requestFor?: (configured: ConfiguredRoute) => RequestBody<Body> | undefined;
  },
  configured: ConfiguredRoute | null,
): RequestBody<Body> | undefined {
  return (configured === null ? undefined : requestFor?.(configured)) ?? request;
}

function withBody<Body>(request: RequestBody<Body>, endpoint: BodyEndpoint<Body>): Endpoint {
  return async function endpointWithBody(c) {
    const body = await readBody(c, request);
    if (c.env.logged !== null) noteBody(c.env.logged, body);
    return endpoint(c, request.check(body));
  };
}

export const json = (schema: SchemaName, description: string): RouteResponse => ({
  description,
  content: { "application/json": schema },
});
/** Content that is not JSON. */
export const content = (type: string, description: string): RouteResponse => ({
  description,
  content: { [type]: null },
});
export const empty = (description: string): RouteResponse => ({ description, content: {} });
