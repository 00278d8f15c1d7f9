import { CAPABILITIES, MODEL_STATUSES, MODEL_TYPES } from "../config/fits.ts";

export type Json = Record<string, unknown>;

export interface Call {
  method: "get" | "post" | "put" | "delete";
  path: string;
  summary: string;
  answer?: string;
  status?: number;
  body?: string;
  /** What the body is, where it is not JSON. */
  bodyType?: string;
  /** What the answer is, where it is not JSON but bytes. */
  bytes?: string;
  bodyIsOptional?: boolean;
  parameters?: Json[];
}

export const query = (name: string, description: string, schema: Json): Json => ({
  name,
  in: "query",
  description,
  schema,
});
export const PAGE = [
  query("limit", "Entries on the page.", {
    type: "integer",
    minimum: 1,
    maximum: 100,
    default: 20,
  }),
  query("after", "The last id of the page before.", { type: "string" }),
  query("order", "By creation.", { enum: ["asc", "desc"], default: "desc" }),
];

export const PERIOD = [
  query("from", "From this moment on: a date with offset, or Unix seconds.", { type: "string" }),
  query("to", "Before this moment.", { type: "string" }),
];

/** `path` is what comes after the route's own. */
export type OperationCall = Omit<Call, "path"> & { path?: string };

/** What each operation looks like from outside. A planned one is listed without an answer. */
export const OPERATION_CALLS: Readonly<Record<string, OperationCall[]>> = {
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
  retrieve_balance: [{ method: "get", summary: "What this account has", answer: "Balance" }],
  usage: [
    {
      method: "get",
      summary: "Receipts, newest first; with Accept: text/csv the statement",
      answer: "ReceiptList",
      parameters: [...PAGE, query("model", "Only of this model.", { type: "string" }), ...PERIOD],
    },
    {
      method: "get",
      path: "/{request_id}",
      summary: "The receipt of one request",
      answer: "Receipt",
    },
  ],
  chat: [{
    method: "post",
    summary: "A chat completion, whole or streamed",
    body: "ChatRequest",
    answer: "ChatCompletion",
  }],
  files: [
    {
      method: "post",
      summary: "Upload an image, audio or video",
      body: "NewFile",
      bodyType: "multipart/form-data",
      answer: "File",
    },
    {
      method: "get",
      summary: "Files, newest first",
      answer: "FileList",
      parameters: [
        ...PAGE,
        query("purpose", "Only of this purpose.", { enum: ["generation", "output"] }),
      ],
    },
    { method: "get", path: "/{file_id}", summary: "A file", answer: "File" },
    { method: "delete", path: "/{file_id}", summary: "Delete a file", answer: "DeletedFile" },
    {
      method: "get",
      path: "/{file_id}/content",
      summary: "The bytes of a file; takes Range",
      bytes: "*/*",
    },
  ],
  quotes: [{
    method: "post",
    summary: "What a request would cost at the most",
    body: "QuoteRequest",
    answer: "Quote",
  }],
};

export const admin = (
  method: Call["method"],
  path: string,
  summary: string,
  answer: string,
  more: Partial<Call> = {},
): Call => ({ method, path: `/admin/v1${path}`, summary, answer, ...more });

export const ADMIN_CALLS: readonly Call[] = [
  admin("post", "/accounts", "Create an account", "Account", { body: "NewAccount", status: 201 }),
  admin("get", "/accounts", "List accounts", "AccountList", { parameters: PAGE }),
  admin("get", "/accounts/{id}", "One account, with its balance", "Account"),
  admin(
    "post",
    "/accounts/{id}/credits",
    "Book money in; the same reference books once",
    "Credit",
    {
      body: "NewCredit",
      status: 201,
    },
  ),
  admin("put", "/accounts/{id}/plan", "Put an account on a plan and grant its quotas", "Account", {
    body: "NewPlan",
  }),
  admin("post", "/accounts/{id}/keys", "Create an API key; shown this once", "ApiKey", {
    body: "NewKey",
    status: 201,
  }),
  admin("get", "/accounts/{id}/keys", "The account's keys", "ApiKeyList"),
  admin("delete", "/keys/{id}", "Revoke a key on every node", "ApiKey"),
  admin("get", "/ledger/verify", "Check every rule the books must obey", "Verification"),
  admin("get", "/providers", "Who answers, and how each fares", "ProviderList"),
  admin("get", "/config", "The declaration in force", "Config"),
  admin("post", "/config/reload", "Take the declaration as it stands now", "Config"),
];
