import { refusalTable } from "../base/refusal.ts";
import { CAPABILITIES, MODEL_STATUSES, MODEL_TYPES } from "../config/fits.ts";
import type { Plan, Route } from "../config/plan.ts";
import api from "../../schemas/api.schema.json" with { type: "json" };
import newAccount from "../../schemas/requests/admin_accounts.schema.json" with { type: "json" };
import newKey from "../../schemas/requests/admin_keys.schema.json" with { type: "json" };

type Json = Record<string, unknown>;

interface Call {
  method: "get" | "post" | "put" | "delete";
  path: string;
  summary: string;
  answer?: string;
  status?: number;
  body?: string;
  parameters?: Json[];
}

const query = (name: string, description: string, schema: Json): Json => ({
  name,
  in: "query",
  description,
  schema,
});
const PAGE = [
  query("limit", "Entries on the page.", {
    type: "integer",
    minimum: 1,
    maximum: 100,
    default: 20,
  }),
  query("after", "The last id of the page before.", { type: "string" }),
  query("order", "By creation.", { enum: ["asc", "desc"], default: "desc" }),
];

/** What each operation looks like from outside. A planned one is listed without an answer. */
const OPERATION_CALLS: Readonly<Record<string, Omit<Call, "path">[]>> = {
  list_models: [{
    method: "get",
    summary: "The models this account may use",
    answer: "ModelList",
    parameters: [
      query("type", "Only models of this type.", { enum: [...MODEL_TYPES] }),
      query("capability", "Only models that can do this.", { enum: CAPABILITIES }),
      query("status", "Only models in this state.", { enum: [...MODEL_STATUSES] }),
    ],
  }],
  retrieve_model: [{ method: "get", summary: "A model and its limits", answer: "ModelDetail" }],
  list_prices: [{ method: "get", summary: "What this account pays", answer: "PriceList" }],
};
const POSTED = new Set(["chat", "generation", "speech", "quotes"]);

const ADMIN_CALLS: Call[] = [
  {
    method: "post",
    path: "/admin/v1/accounts",
    summary: "Create an account",
    body: "NewAccount",
    answer: "Account",
    status: 201,
  },
  {
    method: "get",
    path: "/admin/v1/accounts",
    summary: "List accounts",
    answer: "AccountList",
    parameters: PAGE,
  },
  { method: "get", path: "/admin/v1/accounts/{id}", summary: "One account", answer: "Account" },
  {
    method: "post",
    path: "/admin/v1/accounts/{id}/keys",
    summary: "Create an API key; shown this once",
    body: "NewKey",
    answer: "ApiKey",
    status: 201,
  },
  {
    method: "get",
    path: "/admin/v1/accounts/{id}/keys",
    summary: "The account's keys",
    answer: "ApiKeyList",
  },
  {
    method: "delete",
    path: "/admin/v1/keys/{id}",
    summary: "Revoke a key on every node",
    answer: "ApiKey",
  },
  {
    method: "get",
    path: "/admin/v1/config",
    summary: "The declaration in force",
    answer: "Config",
  },
  {
    method: "post",
    path: "/admin/v1/config/reload",
    summary: "Take the declaration as it stands now",
    answer: "Config",
  },
];

/** OpenAPI 3.1, made from the schemas that check requests and the plan that answers them. */
export function openapi(plan: Plan): Json {
  const paths: Record<string, Json> = {};
  const add = (call: Call, more: Json, security: string) => {
    const path = paths[call.path] ??= {};
    path[call.method] = operation(call, more, security);
  };
  for (const route of plan.routes) {
    for (const call of callsOf(route)) {
      add({ ...call, path: "/v1" + route.path }, routeNotes(route), "api_key");
    }
  }
  for (const call of ADMIN_CALLS) add(call, { tags: ["operator"] }, "admin_token");
  return {
    openapi: "3.1.0",
    info: {
      title: plan.service.name,
      version: "1",
      description:
        "An OpenAI-compatible gateway for chat and asynchronous generation. Keys belong on servers.",
      ...(plan.service.supportUrl === null ? {} : { contact: { url: plan.service.supportUrl } }),
    },
    servers: [{ url: plan.service.baseUrl?.replace(/\/v1$/, "") ?? "/" }],
    paths,
    components: {
      securitySchemes: {
        api_key: {
          type: "http",
          scheme: "bearer",
          description: "An API key from the console: `sk-…`.",
        },
        admin_token: { type: "http", scheme: "bearer", description: "The operator's token." },
      },
      schemas: schemas(),
      responses: { Error: errorResponse() },
    },
  };
}

function callsOf(route: Route): Omit<Call, "path">[] {
  const known = route.stage === "planned" ? undefined : OPERATION_CALLS[route.operation];
  return known ??
    [{ method: POSTED.has(route.operation) ? "post" : "get", summary: "Planned, answers 501" }];
}

function routeNotes(route: Route): Json {
  return {
    tags: [route.operation],
    "x-stage": route.stage,
    ...(route.notice === null ? {} : { deprecated: true }),
  };
}

function operation(call: Call, more: Json, security: string): Json {
  const inPath = [...call.path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const parameters = [...inPath, ...call.parameters ?? []];
  const content = (name: string) => ({
    "application/json": { schema: { $ref: `#/components/schemas/${name}` } },
  });
  return {
    operationId: `${call.method}${
      call.path.replace(/[^A-Za-z0-9]+(.)?/g, (_, next = "") => next.toUpperCase())
    }`,
    summary: call.summary,
    ...more,
    security: [{ [security]: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(call.body === undefined
      ? {}
      : { requestBody: { required: true, content: content(call.body) } }),
    responses: {
      ...(call.answer === undefined
        ? {}
        : { [call.status ?? 200]: { description: call.summary, content: content(call.answer) } }),
      default: { $ref: "#/components/responses/Error" },
    },
  };
}

function errorResponse(): Json {
  const rows = refusalTable().map(({ status, type, code }) => `| ${status} | ${type} | ${code} |`);
  return {
    description: `An error. Every one there is:\n\n| status | type | code |\n|---|---|---|\n${
      rows.join("\n")
    }`,
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  };
}

function schemas(): Json {
  const text = JSON.stringify(api.$defs).replaceAll("#/$defs/", "#/components/schemas/");
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
  const { $schema: _a, ...NewAccount } = newAccount;
  const { $schema: _b, ...NewKey } = newKey;
  return {
    ...JSON.parse(text),
    NewAccount,
    NewKey,
    AccountList: page("Account"),
    ApiKeyList: page("ApiKey"),
  };
}
