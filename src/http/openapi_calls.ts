import { TASK_PROBLEMS } from "../workflows/tasks/operate_tasks.ts";
import { STATUSES } from "../workflows/tasks/task.ts";
import { CAPABILITIES, definitionOf, MODEL_TYPES } from "../model_types/model_types.ts";
import { MODEL_STATUSES } from "../platform/config/config.ts";

export type JsonSchemaObject = Record<string, unknown>;

export interface OpenApiCall {
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
  /** Further answers; what is good looks like the first. */
  also?: Readonly<Record<number, string>>;
  bodyIsOptional?: boolean;
  parameters?: JsonSchemaObject[];
}

export const query = (
  name: string,
  description: string,
  schema: JsonSchemaObject,
): JsonSchemaObject => ({
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

const header = (name: string, description: string): JsonSchemaObject => ({
  name,
  in: "header",
  description,
  schema: { type: "string" },
});

const SUBMISSION = [
  header(
    "Idempotency-Key",
    "1 to 255 visible ASCII characters: the same key and body find the task that they made first.",
  ),
  header("Prefer", "wait=N: hold the answer back up to N seconds (60 at the most)."),
];

/** `path` is what comes after the route's own. */
export type OperationCall = Omit<OpenApiCall, "path"> & { path?: string };

/** What each operation looks like from outside. A planned one is listed without an answer. */
export const OPERATION_CALLS: Readonly<Record<string, OperationCall[]>> = {
  list_models: [{
    method: "get",
    summary: "The models this account may use",
    answer: "ModelList",
    parameters: [
      query("type", "Only models of this type.", { enum: [...MODEL_TYPES] }),
      query("capability", "Only models that can do this.", { enum: CAPABILITIES }),
      query("status", "Only models in this state; those that are unavailable are only shown so.", {
        enum: [...MODEL_STATUSES],
      }),
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
      also: {
        206: "The part that Range asks for",
        304: "They are as If-None-Match has them",
        416: "No such part",
      },
    },
  ],
  generation: [{
    method: "post",
    summary: "A generation, as a task; Prefer: wait=N holds the answer back until it is over",
    answer: "Task",
    status: 202,
    parameters: SUBMISSION,
  }],
  speech: [{
    method: "post",
    summary: "Speech: the audio itself, or with Prefer: respond-async a task (202)",
    body: "SpeechRequest",
    bytes: "audio/*",
    answer: "Task",
    status: 202,
    parameters: SUBMISSION,
  }],
  tasks: [
    {
      method: "get",
      summary: "Tasks, newest first",
      answer: "TaskList",
      parameters: [
        ...PAGE,
        query("type", "Only of this type.", {
          enum: MODEL_TYPES.filter((type) => definitionOf(type).work !== "chat"),
        }),
        query("status", "Only with this status.", { enum: [...STATUSES] }),
      ],
    },
    {
      method: "get",
      path: "/{task_id}",
      summary: "A task; addresses of its results are signed anew",
      answer: "Task",
    },
    {
      method: "post",
      path: "/{task_id}/cancel",
      summary: "Cancel a task: 200 when it is over, 202 while its upstream is being asked",
      answer: "Task",
      also: { 202: "It ends when its upstream confirms" },
    },
    {
      method: "get",
      path: "/{task_id}/events",
      summary: "The task and every change of it until it is over, as server-sent events",
      bytes: "text/event-stream",
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
  method: OpenApiCall["method"],
  path: string,
  summary: string,
  more: Omit<OpenApiCall, "method" | "path" | "summary"> & { answer: string },
): OpenApiCall => ({ method, path: `/admin/v1${path}`, summary, ...more });

export const ADMIN_CALLS: readonly OpenApiCall[] = [
  admin("post", "/accounts", "Create an account", {
    answer: "Account",
    body: "NewAccount",
    status: 201,
  }),
  admin("get", "/accounts", "List accounts", { answer: "AccountList", parameters: PAGE }),
  admin("get", "/accounts/{id}", "One account, with its balance", { answer: "Account" }),
  admin("post", "/accounts/{id}/credits", "Book money in; the same reference books once", {
    answer: "Credit",
    body: "NewCredit",
    status: 201,
    also: { 200: "It was booked before with this reference" },
  }),
  admin("put", "/accounts/{id}/plan", "Put an account on a plan and grant its quotas", {
    answer: "Account",
    body: "NewPlan",
  }),
  admin("post", "/accounts/{id}/keys", "Create an API key; shown this once", {
    answer: "ApiKey",
    body: "NewKey",
    status: 201,
  }),
  admin("get", "/accounts/{id}/keys", "The account's keys", { answer: "ApiKeyList" }),
  admin("delete", "/keys/{id}", "Revoke a key on every node", { answer: "ApiKey" }),
  admin("get", "/people/{email}", "A registered person", { answer: "Person" }),
  admin(
    "put",
    "/people/{email}",
    "Grant or revoke the operator role of a person with a verified email address",
    { answer: "Person", body: "PersonChange" },
  ),
  admin(
    "post",
    "/people/{email}/password",
    "A new password, shown this once; verifies the address",
    { answer: "Person" },
  ),
  admin("get", "/ledger/verify", "Check every rule the books must obey", {
    answer: "Verification",
  }),
  admin("get", "/providers", "List providers and the health of their upstreams", {
    answer: "ProviderList",
  }),
  admin("get", "/tasks", "List tasks of all accounts; problem finds stuck tasks", {
    answer: "OperatorTaskList",
    parameters: [
      ...PAGE,
      query("account", "Only of this account.", { type: "string" }),
      query("type", "Only of this type.", { type: "string" }),
      query("status", "Only with this status.", { enum: [...STATUSES] }),
      query(
        "problem",
        "dead: needs an operator. failing: will be retried. late: overdue for its next step. Includes subtasks of dramas.",
        { enum: [...TASK_PROBLEMS] },
      ),
      query("parent", "The subtasks of this drama; without it subtasks are left out.", {
        type: "string",
      }),
    ],
  }),
  admin("get", "/tasks/{id}", "One task", { answer: "OperatorTask" }),
  admin("post", "/tasks/{id}/replay", "Run the next step of a stuck task now", {
    answer: "OperatorTask",
    status: 202,
  }),
  admin("get", "/config", "The active configuration", { answer: "Config" }),
  admin("post", "/config/reload", "Reload the configuration file", { answer: "Config" }),
];
