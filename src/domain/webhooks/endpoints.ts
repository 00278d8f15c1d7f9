import { newId } from "../../lib/ids.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Queries } from "../../platform/database/database.ts";
import { EVENT_TYPES, type EventType, hostOf } from "./event.ts";
import type { SecretBox } from "../../platform/secrets/types.ts";
import { makeSecret } from "./secrets.ts";

export interface WebhookEndpoint {
  id: string;
  object: "webhook_endpoint";
  url: string;
  description: string;
  /** Types of events that it receives. */
  event_types: readonly string[];
  status: "enabled" | "disabled";
  disabled_reason: "owner" | "gone" | "failing" | null;
  disabled_at: string | null;
  /** The first failure since the last success. */
  failing_since: string | null;
  created: number;
}

interface Row {
  id: string;
  url: string;
  description: string;
  event_types: string[] | null;
  created_at: Date;
  disabled_at: Date | null;
  disabled_reason: WebhookEndpoint["disabled_reason"];
  failing_since: Date | null;
}

/** Fields that the owner sets. Without `event_types` an endpoint receives every type. */
export interface EndpointFields {
  url: string;
  description?: string | undefined;
  event_types?: EventType[] | undefined;
}

interface Page {
  limit: number;
  after?: string | undefined;
  order: "asc" | "desc";
}

/** Limited because every event is sent to each endpoint. */
const ENDPOINTS_MAX = 16;

export async function createEndpoint(
  sql: Queries,
  secretBox: SecretBox,
  account: string,
  { url, description = "", event_types }: EndpointFields,
): Promise<WebhookEndpoint> {
  const id = newId("we");
  const [row] = await sql<[Row?]>`
    insert into webhook_endpoint (id, account_id, url, host, description, event_types)
    select ${id}, ${account}, ${url}, ${hostOf(url)}, ${description}, ${event_types ?? null}
     where (select count(*) from webhook_endpoint where account_id = ${account} and deleted_at is null)
             < ${ENDPOINTS_MAX}
    returning *`;
  if (row === undefined) {
    throw new ApiError(
      "invalid_value",
      `An account may have ${ENDPOINTS_MAX} webhook endpoints: delete one first.`,
    );
  }
  await makeSecret(sql, secretBox, { account, endpoint: id });
  return toEndpoint(row);
}

export async function listEndpoints(
  sql: Queries,
  account: string,
  { limit, after, order }: Page,
): Promise<{ data: WebhookEndpoint[]; hasMore: boolean }> {
  const isAscending = order === "asc";
  const rows = await sql<Row[]>`
    select * from webhook_endpoint
     where account_id = ${account} and deleted_at is null
       ${
    after === undefined ? sql`` : isAscending ? sql`and id > ${after}` : sql`and id < ${after}`
  }
     order by id ${isAscending ? sql`asc` : sql`desc`} limit ${limit + 1}`;
  return { data: rows.slice(0, limit).map(toEndpoint), hasMore: rows.length > limit };
}

export async function findEndpoint(
  sql: Queries,
  account: string,
  id: string,
): Promise<WebhookEndpoint> {
  const [row] = await sql<[Row?]>`
    select * from webhook_endpoint
     where id = ${id} and account_id = ${account} and deleted_at is null`;
  return toEndpoint(row ?? unknownEndpoint());
}

/** Changes the given fields. Pending deliveries go to the new URL. */
export async function updateEndpoint(
  sql: Queries,
  account: string,
  id: string,
  { url, description, event_types }: Partial<EndpointFields>,
): Promise<WebhookEndpoint> {
  const [row] = await sql<[Row?]>`
    with changed as (
      update webhook_endpoint
         set url = coalesce(${url ?? null}, url),
             host = coalesce(${url === undefined ? null : hostOf(url)}, host),
             description = coalesce(${description ?? null}, description),
             event_types = coalesce(${event_types ?? null}::text[], event_types)
       where id = ${id} and account_id = ${account} and deleted_at is null
      returning *),
    moved as (
      update webhook_delivery d set url = c.url, destination = c.account_id || '/' || c.host
        from changed c, webhook_endpoint before
       where before.id = c.id and before.url <> c.url
         and d.destination = before.account_id || '/' || before.host and d.wake_at is not null
         and d.endpoint_id = c.id)
    select * from changed`;
  return toEndpoint(row ?? unknownEndpoint());
}

/** Enables an endpoint; the days of failure are counted anew. */
export async function enableEndpoint(
  sql: Queries,
  account: string,
  id: string,
): Promise<WebhookEndpoint> {
  const [row] = await sql<[Row?]>`
    update webhook_endpoint set disabled_at = null, disabled_reason = null, failing_since = null
     where id = ${id} and account_id = ${account} and deleted_at is null
    returning *`;
  return toEndpoint(row ?? unknownEndpoint());
}

/** Disables an endpoint. Its pending deliveries fail and can be redelivered later. */
export async function disableEndpoint(
  sql: Queries,
  account: string,
  id: string,
): Promise<WebhookEndpoint> {
  const [row] = await sql<[Row?]>`
    update webhook_endpoint set disabled_at = coalesce(disabled_at, now()),
           disabled_reason = coalesce(disabled_reason, 'owner')
     where id = ${id} and account_id = ${account} and deleted_at is null
    returning *`;
  const endpoint = toEndpoint(row ?? unknownEndpoint());
  await endDeliveriesOf(sql, [id], "endpoint_disabled");
  return endpoint;
}

export async function deleteEndpoint(sql: Queries, account: string, id: string): Promise<void> {
  const [row] = await sql<[{ id: string }?]>`
    with gone as (
      update webhook_endpoint set deleted_at = now()
       where id = ${id} and account_id = ${account} and deleted_at is null
      returning id),
    forgotten as (delete from webhook_secret where endpoint_id in (select id from gone))
    select id from gone`;
  if (row === undefined) unknownEndpoint();
  await endDeliveriesOf(sql, [id], "endpoint_deleted");
}

/**
 * Fails the pending deliveries of endpoints that are disabled or deleted. Running attempts are not aborted; a
 * delivery that is created meanwhile fails when it is claimed.
 */
export async function endDeliveriesOf(
  sql: Queries,
  endpoints: readonly string[],
  reason: "endpoint_disabled" | "endpoint_deleted",
): Promise<void> {
  await sql`
    update webhook_delivery d
       set state = 'failed', reason = ${reason}, wake_at = null, ended_at = now()
      from webhook_endpoint e
     where e.id = any (${endpoints as string[]}) and d.destination = e.account_id || '/' || e.host
       and d.endpoint_id = e.id and d.wake_at is not null and d.lease_until is null`;
}

/**
 * Deletes the endpoints and secrets of a closed account and fails its pending deliveries, those to callback URLs
 * included. Returns the number of endpoints.
 */
export async function removeEndpointsOf(sql: Queries, account: string): Promise<number> {
  // Deliveries before endpoints: recordAttempts locks them in this order.
  await sql`
    update webhook_delivery
       set state = 'failed', reason = 'endpoint_deleted', wake_at = null, ended_at = now()
     where account_id = ${account} and wake_at is not null and lease_until is null`;
  const removed = await sql`
    update webhook_endpoint set deleted_at = now()
     where account_id = ${account} and deleted_at is null`;
  await sql`delete from webhook_secret where account_id = ${account}`;
  return removed.count;
}

function unknownEndpoint(): never {
  throw new ApiError("not_found", "There is no such webhook endpoint.", { param: "id" });
}

function toEndpoint(row: Row): WebhookEndpoint {
  return {
    id: row.id,
    object: "webhook_endpoint",
    url: row.url,
    description: row.description,
    event_types: row.event_types ?? EVENT_TYPES,
    status: row.disabled_at === null ? "enabled" : "disabled",
    disabled_reason: row.disabled_reason,
    disabled_at: row.disabled_at?.toISOString() ?? null,
    failing_since: row.failing_since?.toISOString() ?? null,
    created: Math.floor(row.created_at.getTime() / 1000),
  };
}

/** Whether an enabled endpoint would receive this account's events. */
export async function hasEndpoint(sql: Queries, account: string): Promise<boolean> {
  const rows = await sql`
    select from webhook_endpoint
     where account_id = ${account} and deleted_at is null and disabled_at is null limit 1`;
  return rows.length > 0;
}
