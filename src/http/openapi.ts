import type { Config, Route as ConfiguredRoute } from "../platform/config/config.ts";
import { apiErrorTable } from "./error_status.ts";
import { exampleOf } from "./example_of.ts";
import { AREAS, type PlacedRoute, placeRoutes } from "./routes/registry.ts";
import { type ApiRoute, configuredBody, type RouteResponse } from "./routes/route.ts";
import { type JsonSchema, objectSchemas, pageSchema } from "./routes/schemas.ts";
import { webhooksSent } from "./openapi_webhooks.ts";
import webhookEvent from "../../schemas/webhook_event.schema.json" with { type: "json" };

/** OpenAPI 3.1, made from the routes of this configuration and the schemas that check requests. */
export function openapi(config: Config): JsonSchema {
  const placed = placeRoutes(config);
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const each of placed) {
    (paths[each.path] ??= {})[each.route.method.toLowerCase()] = operationOf(config, each);
  }
  return {
    openapi: "3.1.0",
    info: infoOf(config),
    servers: [{ url: config.service.baseUrl?.replace(/\/v1$/, "") ?? "/" }],
    tags: AREAS.map(({ title }) => ({ name: title })),
    paths,
    webhooks: webhooksSent(),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: componentSchemas(placed),
      responses: { Error: errorResponse() },
    },
  };
}

function infoOf({ service }: Config): JsonSchema {
  return {
    title: service.name,
    version: "1",
    description:
      "An OpenAI-compatible gateway for chat and asynchronous generation. Keys belong on servers.",
    ...(service.supportUrl === null ? {} : { contact: { url: service.supportUrl } }),
  };
}

const SECURITY_SCHEMES = {
  api_key: {
    type: "http",
    scheme: "bearer",
    description: "An API key from the console: `sk-…`.",
  },
  admin_token: {
    type: "http",
    scheme: "bearer",
    description:
      "The root token, or an admin token with the scope that the operation names. `root`: the root token only.",
  },
  metrics_token: { type: "http", scheme: "bearer", description: "A token for metrics only." },
};

/** Routes that need neither a key nor a token say so: an empty list. */
function securityOf({ auth, scope }: ApiRoute): JsonSchema[] {
  if (auth === "api_key") return [{ api_key: [] }];
  if (auth === "metrics_token") return [{ admin_token: [scope] }, { metrics_token: [] }];
  return auth === "admin_token" ? [{ admin_token: [scope] }] : [];
}

const TITLES = new Map(AREAS.flatMap(({ title, routes }) => routes.map((route) => [route, title])));

function operationOf(config: Config, { route, path, configured }: PlacedRoute): JsonSchema {
  const { method, summary, responses } = route;
  const description = [configured?.stage === "planned" ? PLANNED : null, route.description]
    .filter((text) => text !== null && text !== undefined).join(" ");
  const parameters = parametersOf(config, route);
  return {
    operationId: operationId(method, path),
    summary,
    ...(description === "" ? {} : { description }),
    tags: [TITLES.get(route)],
    ...stageOf(configured),
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBodyOf(config, route, configured),
    responses: {
      ...Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [status, responseOf(response)]),
      ),
      default: { $ref: "#/components/responses/Error" },
    },
  };
}

const PLANNED = "Planned: not released yet, responds with 501.";

function operationId(method: string, path: string): string {
  const words = path.replace(/[^A-Za-z0-9]+(.)?/g, (_, next = "") => next.toUpperCase());
  return method.toLowerCase() + words;
}

function stageOf(configured: ConfiguredRoute | null): JsonSchema {
  if (configured === null) return {};
  return {
    "x-stage": configured.stage,
    ...(configured.notice === null ? {} : { deprecated: true }),
  };
}

function parametersOf(config: Config, { parameters = [], example }: ApiRoute): JsonSchema[] {
  const values = { ...example.path, ...example.query, ...example.headers };
  return parameters.map((parameter) => {
    const value = values[parameter.name];
    return { ...parameter, ...(value === undefined ? {} : { example: exampleOf(config, value) }) };
  });
}

function requestBodyOf(
  config: Config,
  route: ApiRoute,
  configured: ConfiguredRoute | null,
): JsonSchema {
  if (route.form !== undefined) {
    const content = { "multipart/form-data": { schema: reference(route.form) } };
    return { requestBody: { required: true, content } };
  }
  const request = configuredBody(route, configured);
  if (request === undefined) return {};
  const { body } = route.example;
  const content = {
    schema: reference(request.published.title),
    ...(body === undefined ? {} : { example: exampleOf(config, body) }),
  };
  return {
    requestBody: { required: !request.isOptional, content: { "application/json": content } },
  };
}

function responseOf({ description, content }: RouteResponse): JsonSchema {
  const types = Object.entries(content).map(([type, schema]) => [
    type,
    schema === null ? {} : { schema: reference(schema) },
  ]);
  return {
    description,
    ...(types.length === 0 ? {} : { content: Object.fromEntries(types) }),
  };
}

function reference(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

function errorResponse(): JsonSchema {
  const rows = apiErrorTable().map(({ status, type, code }) => `| ${status} | ${type} | ${code} |`);
  return {
    description: `An error. Every one there is:\n\n| status | type | code |\n|---|---|---|\n${
      rows.join("\n")
    }`,
    content: { "application/json": { schema: reference("Error") } },
  };
}

function componentSchemas(placed: readonly PlacedRoute[]): JsonSchema {
  const objects = objectSchemas();
  const named = placed.flatMap(({ route }) =>
    Object.values(route.responses).flatMap(({ content }) => Object.values(content))
  );
  const pages = named.filter((name) => name !== null && objects[name] === undefined)
    .map((name) => [name, pageSchema(name!.replace(/List$/, ""))]);
  const bodies = placed.map(({ route, configured }) => configuredBody(route, configured)?.published)
    .filter((schema) => schema !== undefined);
  return {
    ...objects,
    ...Object.fromEntries(pages),
    ...Object.fromEntries([...bodies, webhookEvent].map(({ $schema: _, title, ...schema }) => [
      title,
      schema,
    ])),
  };
}
