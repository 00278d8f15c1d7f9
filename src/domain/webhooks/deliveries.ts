import { ApiError } from "../../lib/api_error.ts";
import type { Queries } from "../../platform/database/database.ts";
import { renderPayload } from "./event.ts";

export const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;

/** The delivery of an event to one receiver, as the API shows it. */
export interface WebhookDelivery {
  id: string;
  object: "webhook_delivery";
  account: string;
  event: { id: string; type: string; task_id: string | null; created: number };
  /** Null: the callback_url of the request. */
  endpoint: string | null;
  url: string;
  status: (typeof DELIVERY_STATES)[number];
  /** Why it failed. */
  reason: string | null;
  attempt_count: number;
  last_status: number | null;
  last_error: string | null;
  /** Null after the last attempt. */
  next_attempt_at: string | null;
  created: number;
  ended_at: string | null;
}

export interface WebhookAttempt {
  number: number;
  started_at: string;
  latency_ms: number;
  status: number | null;
  error: string | null;
  /** The first 4 KB of the response. */
  response: string | null;
}

interface Row {
  id: string;
  account_id: string;
  event_id: string;
  type: string;
  task_id: string | null;
  data: string;
  event_created: string;
  endpoint_id: string | null;
  url: string;
  state: WebhookDelivery["status"];
  reason: string | null;
  attempts: number;
  last_status: number | null;
  last_error: string | null;
  wake_at: Date | null;
  created_at: Date;
  ended_at: Date | null;
}

export interface DeliveryQuery {
  /** Left out by the operator: all accounts. */
  account?: string | undefined;
  endpoint?: string | undefined;
  status?: WebhookDelivery["status"] | undefined;
  task?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  limit: number;
  after?: string | undefined;
  order: "asc" | "desc";
}

const columns = (sql: Queries) =>
  sql`d.*, e.type, e.task_id, e.data, floor(extract(epoch from e.created_at))::bigint as event_created`;

export async function listDeliveries(
  sql: Queries,
  { account, endpoint, status, task, from, to, limit, after, order }: DeliveryQuery,
): Promise<{ data: WebhookDelivery[]; hasMore: boolean }> {
  const isAscending = order === "asc";
  const rows = await sql<Row[]>`
    select ${columns(sql)} from webhook_delivery d join webhook_event e on e.id = d.event_id
     where true
       ${account === undefined ? sql`` : sql`and d.account_id = ${account}`}
       ${endpoint === undefined ? sql`` : sql`and d.endpoint_id = ${endpoint}`}
       ${status === undefined ? sql`` : sql`and d.state = ${status}`}
       ${task === undefined ? sql`` : sql`and e.task_id = ${task}`}
       ${from === undefined ? sql`` : sql`and d.created_at >= ${from}`}
       ${to === undefined ? sql`` : sql`and d.created_at < ${to}`}
       ${
    after === undefined ? sql`` : isAscending ? sql`and d.id > ${after}` : sql`and d.id < ${after}`
  }
     order by d.id ${isAscending ? sql`asc` : sql`desc`} limit ${limit + 1}`;
  return { data: rows.slice(0, limit).map(toDelivery), hasMore: rows.length > limit };
}

/** A delivery with its payload and every attempt. The operator leaves out `account`. */
export async function findDelivery(
  sql: Queries,
  id: string,
  account?: string,
): Promise<WebhookDelivery & { payload: unknown; attempts: WebhookAttempt[] }> {
  const [row] = await sql<[Row?]>`
    select ${columns(sql)} from webhook_delivery d join webhook_event e on e.id = d.event_id
     where d.id = ${id} ${account === undefined ? sql`` : sql`and d.account_id = ${account}`}`;
  if (row === undefined) throw unknownDelivery();
  const attempts = await sql<(Omit<WebhookAttempt, "started_at"> & { started_at: Date })[]>`
    select number, started_at, latency_ms, status, error, response from webhook_attempt
     where delivery_id = ${id} order by number`;
  const { event_id, type, event_created, data } = row;
  return {
    ...toDelivery(row),
    payload: JSON.parse(
      renderPayload({ id: event_id, type, created: Number(event_created), data }),
    ),
    attempts: attempts.map((attempt) => ({
      ...attempt,
      started_at: attempt.started_at.toISOString(),
    })),
  };
}

function toDelivery(row: Row): WebhookDelivery {
  return {
    id: row.id,
    object: "webhook_delivery",
    account: row.account_id,
    event: {
      id: row.event_id,
      type: row.type,
      task_id: row.task_id,
      created: Number(row.event_created),
    },
    endpoint: row.endpoint_id,
    url: row.url,
    status: row.state,
    reason: row.reason,
    attempt_count: row.attempts,
    last_status: row.last_status,
    last_error: row.last_error,
    next_attempt_at: row.wake_at?.toISOString() ?? null,
    created: Math.floor(row.created_at.getTime() / 1000),
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

export function unknownDelivery(): ApiError {
  return new ApiError("not_found", "There is no such webhook delivery.", { param: "id" });
}
