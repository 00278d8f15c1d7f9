import { apiErrorTable } from "./error_status.ts";
import type { Config, Route } from "../platform/config/config.ts";
import { allowNulls } from "./drop_nulls.ts";
import {
  GENERATION_REQUESTS,
  generationRequest,
  SPEECH_REQUEST,
} from "./endpoints/generation_requests.ts";
import {
  ADMIN_CALLS,
  type JsonSchemaObject,
  type OpenApiCall,
  OPERATION_CALLS,
  type OperationCall,
} from "./openapi_calls.ts";
import {
  WEBHOOK_ADMIN_CALLS,
  WEBHOOK_ANSWERS,
  WEBHOOK_BODIES,
  WEBHOOK_CALLS,
  WEBHOOK_LISTS,
  webhooksSent,
} from "./openapi_webhooks.ts";
import api from "../../schemas/api.schema.json" with { type: "json" };
import chatRequest from "../../schemas/requests/chat_completions.schema.json" with { type: "json" };
import newAccount from "../../schemas/requests/admin_accounts.schema.json" with { type: "json" };
import newCredit from "../../schemas/requests/admin_credits.schema.json" with { type: "json" };
import newKey from "../../schemas/requests/admin_keys.schema.json" with { type: "json" };
import newPlan from "../../schemas/requests/admin_plan.schema.json" with { type: "json" };
import personChange from "../../schemas/requests/admin_people.schema.json" with { type: "json" };
import quoteRequest from "../../schemas/requests/quotes.schema.json" with { type: "json" };

const CALLS = { ...OPERATION_CALLS, ...WEBHOOK_CALLS };
const GENERATIONS = [SPEECH_REQUEST, ...GENERATION_REQUESTS.values()].map(({ schema }) => schema);
const POSTED = new Set(["chat", "generation", "speech", "quotes"]);

/** OpenAPI 3.1, made from the schemas that check requests and the plan that answers them. */
export function openapi(config: Config): JsonSchemaObject {
  const paths: Record<string, JsonSchemaObject> = {};
  const add = (call: OpenApiCall, more: JsonSchemaObject, security: string) => {
    const path = paths[call.path] ??= {};
    path[call.method] = operation(call, more, security);
  };
  for (const route of config.routes) {
    for (const call of callsOf(route)) {
      add({ ...call, path: `/v1${route.path}${call.path ?? ""}` }, routeNotes(route), "api_key");
    }
  }
  for (const call of [...ADMIN_CALLS, ...WEBHOOK_ADMIN_CALLS]) {
    add(call, { tags: ["operator"] }, "admin_token");
  }
  return {
    openapi: "3.1.0",
    info: {
      title: config.service.name,
      version: "1",
      description:
        "An OpenAI-compatible gateway for chat and asynchronous generation. Keys belong on servers.",
      ...(config.service.supportUrl === null
        ? {}
        : { contact: { url: config.service.supportUrl } }),
    },
    servers: [{ url: config.service.baseUrl?.replace(/\/v1$/, "") ?? "/" }],
    paths,
    webhooks: webhooksSent(),
    components: {
      securitySchemes: {
        api_key: {
          type: "http",
          scheme: "bearer",
          description: "An API key from the console: `sk-…`.",
        },
        admin_token: { type: "http", scheme: "bearer", description: "The operator's token." },
      },
      schemas: schemas(config),
      responses: { Error: errorResponse() },
    },
  };
}

function callsOf(route: Route): OperationCall[] {
  const known = route.stage === "planned" ? undefined : CALLS[route.operation];
  const request = generationRequest(route);
  if (known !== undefined && request !== undefined) {
    return known.map((call) => ({ ...call, body: request.title }));
  }
  return known ??
    [{ method: POSTED.has(route.operation) ? "post" : "get", summary: "Planned, answers 501" }];
}

function routeNotes(route: Route): JsonSchemaObject {
  return {
    tags: [route.operation],
    "x-stage": route.stage,
    ...(route.notice === null ? {} : { deprecated: true }),
  };
}

function operation(call: OpenApiCall, more: JsonSchemaObject, security: string): JsonSchemaObject {
  const inPath = [...call.path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const parameters = [...inPath, ...call.parameters ?? []];
  const content = (name: string, type = "application/json") => ({
    [type]: { schema: { $ref: `#/components/schemas/${name}` } },
  });
  const shape = call.bytes === undefined
    ? call.answer === undefined ? {} : content(call.answer)
    : { [call.bytes]: {} };
  const also = Object.entries(call.also ?? {}).map(([status, description]) => [
    status,
    { description, ...(status < "300" ? { content: shape } : {}) },
  ]);
  return {
    operationId: `${call.method}${
      call.path.replace(/[^A-Za-z0-9]+(.)?/g, (_, next = "") => next.toUpperCase())
    }`,
    summary: call.summary,
    ...more,
    security: [{ [security]: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(call.body === undefined ? {} : {
      requestBody: {
        required: call.bodyIsOptional !== true,
        content: content(call.body, call.bodyType),
      },
    }),
    responses: {
      ...(call.answer === undefined
        ? {}
        : { [call.status ?? 200]: { description: call.summary, content: content(call.answer) } }),
      ...(call.bytes === undefined
        ? {}
        : { 200: { description: call.summary, content: { [call.bytes]: {} } } }),
      ...Object.fromEntries(also),
      default: { $ref: "#/components/responses/Error" },
    },
  };
}

function errorResponse(): JsonSchemaObject {
  const rows = apiErrorTable().map(({ status, type, code }) => `| ${status} | ${type} | ${code} |`);
  return {
    description: `An error. Every one there is:\n\n| status | type | code |\n|---|---|---|\n${
      rows.join("\n")
    }`,
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  };
}

function schemas({ routes }: Config): JsonSchemaObject {
  const text = JSON.stringify({ ...api.$defs, ...WEBHOOK_ANSWERS }).replaceAll(
    "#/$defs/",
    "#/components/schemas/",
  );
  const page = (name: string) => ({
    type: "object",
    required: ["object", "data", "first_id", "last_id", "has_more"],
    properties: {
      object: { const: "list" },
      data: { type: "array", items: { $ref: `#/components/schemas/${name}` } },
      first_id: { type: ["string", "null"] },
      last_id: { type: ["string", "null"] },
      has_more: { type: "boolean" },
    },
  });
  const requests = [
    newAccount,
    newKey,
    newCredit,
    newPlan,
    personChange,
    quoteRequest,
  ];
  const own = routes.filter(({ requestSchema }) => requestSchema !== null)
    .flatMap((route) => generationRequest(route)?.schema ?? []);
  const lenient = [chatRequest, ...GENERATIONS, ...own].map(allowNulls);
  const bodies = [...requests, ...lenient, ...WEBHOOK_BODIES]
    .map(({ $schema: _, title, ...schema }) => [title, schema]);
  return {
    ...JSON.parse(text),
    ...Object.fromEntries(bodies),
    ...Object.fromEntries(WEBHOOK_LISTS.map((name) => [`${name}List`, page(name)])),
    AccountList: page("Account"),
    ApiKeyList: page("ApiKey"),
    ReceiptList: page("Receipt"),
    FileList: page("File"),
    TaskList: page("Task"),
    OperatorTaskList: page("OperatorTask"),
  };
}
