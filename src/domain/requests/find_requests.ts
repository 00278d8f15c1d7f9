import { ApiError } from "../../lib/api_error.ts";
import { timeOfId } from "../../lib/ids.ts";
import { trimDecimal } from "../../lib/money.ts";
import type { Queries } from "../../platform/database/database.ts";
import type { AttemptRow } from "./request_row.ts";

/** `2xx` … `5xx`: a class of statuses. */
export const STATUS_CLASSES = ["2xx", "3xx", "4xx", "5xx"] as const;
export type StatusFilter = number | (typeof STATUS_CLASSES)[number];

/** A status or a class of statuses; undefined for anything else. */
export function toStatusFilter(text: string): StatusFilter | undefined {
  return /^[1-5]\d\d$/.test(text) ? Number(text) : STATUS_CLASSES.find((each) => each === text);
}

/** Filters of the log; those that are not set let every request pass. */
export interface RequestFilter {
  account?: string | undefined;
  key?: string | undefined;
  model?: string | undefined;
  endpoint?: string | undefined;
  status?: StatusFilter | undefined;
  /** The request's own id, or the client's. */
  id?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

export interface RequestQuery extends RequestFilter {
  limit: number;
  /** The id of the last request of the page before. */
  after?: string | undefined;
  order: "asc" | "desc";
}

/** A request as its account sees it. */
export interface LoggedRequest {
  id: string;
  object: "request";
  /** Unix seconds. */
  created: number;
  key: string | null;
  method: string;
  endpoint: string | null;
  model: string | null;
  status: number;
  error_code: string | null;
  stream: boolean;
  usage: {
    input_tokens: number;
    cached_input_tokens: number;
    output_tokens: number;
    reasoning_tokens: number;
  } | null;
  charge: string | null;
  currency: string;
  duration_ms: number;
  first_byte_ms: number;
  client_request_id: string | null;
  user: string | null;
  metadata: Record<string, unknown> | null;
  task: string | null;
}

/** The same for operators: with its account, and what was tried. */
export interface OperatorRequest extends LoggedRequest {
  account: string;
  attempts: readonly AttemptRow[];
}

/** How rows become objects for one kind of reader. */
type Render<T> = (row: Row, currency: string) => T;

export interface RequestPage<T> {
  data: T[];
  hasMore: boolean;
}

interface Row {
  id: string;
  created_at: Date;
  account_id: string;
  key_id: string | null;
  method: string;
  endpoint: string | null;
  model: string | null;
  status: number;
  error_code: string | null;
  is_stream: boolean;
  input_tokens: string | null;
  cached_input_tokens: string | null;
  output_tokens: string | null;
  reasoning_tokens: string | null;
  charge: string | null;
  duration_ms: number;
  first_byte_ms: number;
  client_request_id: string | null;
  end_user: string | null;
  metadata: Record<string, unknown> | null;
  task_id: string | null;
  attempts: OperatorRequest["attempts"] | null;
}

/** Requests of one account. */
export function listRequests(
  sql: Queries,
  query: RequestQuery & { account: string },
  currency: string,
): Promise<RequestPage<LoggedRequest>> {
  return list(sql, query, currency, toLoggedRequest);
}

/** Requests of all accounts, or of one. */
export function listRequestsForOperator(
  sql: Queries,
  query: RequestQuery,
  currency: string,
): Promise<RequestPage<OperatorRequest>> {
  return list(sql, query, currency, toOperatorRequest);
}

export async function findRequest(
  sql: Queries,
  account: string,
  id: string,
  currency: string,
): Promise<LoggedRequest> {
  const row = await find(sql, id);
  if (row?.account_id !== account) throw notLogged();
  return toLoggedRequest(row, currency);
}

export async function findRequestForOperator(
  sql: Queries,
  id: string,
  currency: string,
): Promise<OperatorRequest> {
  const row = await find(sql, id);
  if (row === null) throw notLogged();
  return toOperatorRequest(row, currency);
}

function notLogged(): ApiError {
  return new ApiError("not_found", "No request with this id is in the log.", { param: "id" });
}

async function find(sql: Queries, id: string): Promise<Row | null> {
  const at = timeOfId(id);
  if (at === null) return null;
  const [row] = await sql<[Row?]>`
    select * from request where created_at = ${new Date(at)} and id = ${id} limit 1`;
  return row ?? null;
}

async function list<T>(
  sql: Queries,
  query: RequestQuery,
  currency: string,
  render: Render<T>,
): Promise<RequestPage<T>> {
  const { limit, after, order } = query;
  const isAscending = order === "asc";
  const afterAt = after === undefined ? null : timeOfId(after);
  if (after !== undefined && afterAt === null) {
    throw new ApiError("invalid_value", "after must be the id of a list's last entry.", {
      param: "after",
    });
  }
  const rows = await sql<Row[]>`
    select * from request
     where ${matching(sql, query)}
       ${
    afterAt === null
      ? sql``
      : isAscending
      ? sql`and (created_at, id) > (${new Date(afterAt)}, ${after!})`
      : sql`and (created_at, id) < (${new Date(afterAt)}, ${after!})`
  }
     order by created_at ${isAscending ? sql`asc` : sql`desc`}, id ${
    isAscending ? sql`asc` : sql`desc`
  }
     limit ${limit + 1}`;
  return {
    data: rows.slice(0, limit).map((row) => render(row, currency)),
    hasMore: rows.length > limit,
  };
}

function matching(sql: Queries, filter: RequestFilter) {
  const { account, key, model, endpoint, status, id, from, to } = filter;
  return sql`true
       ${account === undefined ? sql`` : sql`and account_id = ${account}`}
       ${key === undefined ? sql`` : sql`and key_id = ${key}`}
       ${model === undefined ? sql`` : sql`and model = ${model}`}
       ${endpoint === undefined ? sql`` : sql`and endpoint = ${endpoint}`}
       ${status === undefined ? sql`` : withStatus(sql, status)}
       ${id === undefined ? sql`` : withId(sql, id)}
       ${from === undefined ? sql`` : sql`and created_at >= ${from}`}
       ${to === undefined ? sql`` : sql`and created_at < ${to}`}`;
}

/** The index of failed requests serves what says `status >= 400`. */
function withStatus(sql: Queries, status: StatusFilter) {
  const isClass = typeof status === "string";
  const least = isClass ? Number(status[0]) * 100 : status;
  const most = isClass ? least + 99 : status;
  return least >= 400
    ? sql`and status >= 400 and status between ${least} and ${most}`
    : sql`and status between ${least} and ${most}`;
}

/** An id of ours has its time, which leads to one partition; any other is a client's. */
function withId(sql: Queries, id: string) {
  const at = id.startsWith("req_") ? timeOfId(id) : null;
  return at === null
    ? sql`and client_request_id = ${id}`
    : sql`and created_at = ${new Date(at)} and id = ${id}`;
}

function toOperatorRequest(row: Row, currency: string): OperatorRequest {
  return {
    ...toLoggedRequest(row, currency),
    account: row.account_id,
    attempts: row.attempts ?? [],
  };
}

function toLoggedRequest(row: Row, currency: string): LoggedRequest {
  return {
    id: row.id,
    object: "request",
    created: Math.floor(row.created_at.getTime() / 1000),
    key: row.key_id,
    method: row.method,
    endpoint: row.endpoint,
    model: row.model,
    status: row.status,
    error_code: row.error_code,
    stream: row.is_stream,
    usage: row.input_tokens === null ? null : {
      input_tokens: Number(row.input_tokens),
      cached_input_tokens: Number(row.cached_input_tokens),
      output_tokens: Number(row.output_tokens),
      reasoning_tokens: Number(row.reasoning_tokens),
    },
    charge: row.charge === null ? null : trimDecimal(row.charge),
    currency,
    duration_ms: row.duration_ms,
    first_byte_ms: row.first_byte_ms,
    client_request_id: row.client_request_id,
    user: row.end_user,
    metadata: row.metadata,
    task: row.task_id,
  };
}
