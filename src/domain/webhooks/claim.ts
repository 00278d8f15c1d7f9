import type { Queries } from "../../platform/database/database.ts";

/** A delivery that this process may attempt until its lease expires. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly fence: number;
  readonly account: string;
  readonly endpoint: string | null;
  readonly destination: string;
  readonly url: string;
  readonly event: { id: string; type: string; created: number; data: string };
  readonly taskId: string | null;
  /** The trace of the request that created the task. */
  readonly traceparent: string | null;
  /** Attempts before this one, and how many of them since the last redelivery. */
  readonly attempts: number;
  readonly round: number;
  readonly isTest: boolean;
  /** Why its endpoint receives nothing any more; null while it does. */
  readonly off: "endpoint_disabled" | "endpoint_deleted" | null;
  /** Since the event. */
  readonly ageSeconds: number;
  /** As stored, current first; none when the account has not got its own yet. */
  readonly secrets: readonly { readonly id: string; readonly secret: string }[];
  /** As `performance.now()`. */
  readonly claimedAt: number;
}

interface Row {
  id: string;
  fence: number;
  account_id: string;
  endpoint_id: string | null;
  destination: string;
  url: string;
  event_id: string;
  type: string;
  created: string;
  data: string;
  task_id: string | null;
  traceparent: string | null;
  attempts: number;
  attempts_before_redelivery: number;
  is_test: boolean;
  off: ClaimedDelivery["off"];
  age: number;
  secrets: { id: string; secret: string }[];
}

/** Which deliveries to claim: by id, or the next ones of a destination. Only due deliveries are claimed. */
export type DueDelivery =
  | { readonly ids: readonly string[]; readonly notOf: readonly string[] }
  | { readonly destination: string; readonly limit: number };

/** Claims due deliveries for `leaseSeconds`: after a crash another process can claim them. */
export async function claimDeliveries(
  sql: Queries,
  wanted: DueDelivery,
  leaseSeconds: number,
): Promise<ClaimedDelivery[]> {
  const due = "ids" in wanted
    ? sql`select id from webhook_delivery
           where id = any (${wanted.ids as string[]}) and wake_at <= now()
             and destination <> all (${wanted.notOf as string[]})
             for update skip locked`
    : sql`select id from webhook_delivery
           where destination = ${wanted.destination} and wake_at <= now() order by wake_at limit ${wanted.limit}
             for update skip locked`;
  const rows = await sql<Row[]>`
    with due as materialized (${due}),
    claimed as (
      update webhook_delivery d
         set wake_at = now() + lease, lease_until = now() + lease, fence = fence + 1
        from due, make_interval(secs => ${leaseSeconds}) as lease
       where d.id = due.id
      returning d.*)
    select d.id, d.fence, d.account_id, d.endpoint_id, d.destination, d.url, d.attempts, d.attempts_before_redelivery,
           d.is_test, e.id as event_id, e.type, e.data, e.task_id, t.traceparent,
           floor(extract(epoch from e.created_at))::bigint as created,
           extract(epoch from now() - e.created_at)::float8 as age,
           case when p.deleted_at is not null or a.closed_at is not null then 'endpoint_deleted'
                when p.disabled_at is not null and not d.is_test then 'endpoint_disabled' end as off,
           coalesce(s.secrets, '[]') as secrets
      from claimed d
      join webhook_event e on e.id = d.event_id
      join account a on a.id = d.account_id
      left join webhook_endpoint p on p.id = d.endpoint_id
      left join task t on t.id = e.task_id
      left join lateral (
        select json_agg(json_build_object('id', id, 'secret', secret)
                        order by expires_at desc nulls first, id desc) as secrets
          from webhook_secret
         where account_id = d.account_id and endpoint_id is not distinct from d.endpoint_id
           and (expires_at is null or expires_at > now())) s on true`;
  const claimedAt = performance.now();
  return rows.map((row) => ({
    id: row.id,
    fence: row.fence,
    account: row.account_id,
    endpoint: row.endpoint_id,
    destination: row.destination,
    url: row.url,
    event: { id: row.event_id, type: row.type, created: Number(row.created), data: row.data },
    taskId: row.task_id,
    traceparent: row.traceparent,
    attempts: row.attempts,
    round: row.attempts - row.attempts_before_redelivery,
    isTest: row.is_test,
    off: row.off,
    ageSeconds: row.age,
    secrets: row.secrets,
    claimedAt,
  }));
}

/** With fewer due deliveries, one query without regard to destinations is enough. */
const PAGE = 500;

/**
 * Ids of due deliveries, oldest first. When there is more than a page, the oldest may all belong to one
 * receiver that is down: then every destination contributes its own oldest. Destinations in `notOf` are
 * left out.
 */
export async function dueDeliveries(
  sql: Queries,
  limit: number,
  notOf: readonly string[],
  perDestination: number,
): Promise<string[]> {
  const oldest = await sql<{ id: string; destination: string }[]>`
    select id, destination from webhook_delivery where wake_at <= now() order by wake_at limit ${PAGE}`;
  const skipped = new Set(notOf);
  if (oldest.length < PAGE) {
    return oldest.filter(({ destination }) => !skipped.has(destination)).slice(0, limit).map((
      { id },
    ) => id);
  }
  const rows = await sql<{ id: string }[]>`
    with recursive destinations as (
      (select destination from webhook_delivery where wake_at is not null order by destination limit 1)
      union all
      select (select d.destination from webhook_delivery d
               where d.wake_at is not null and d.destination > destinations.destination order by d.destination limit 1)
        from destinations where destinations.destination is not null)
    select d.id
      from destinations, lateral (
        select id, wake_at from webhook_delivery
         where destination = destinations.destination and wake_at <= now() order by wake_at limit ${perDestination}) d
     where destinations.destination is not null and destinations.destination <> all (${notOf as string[]})
     order by d.wake_at limit ${limit}`;
  return rows.map(({ id }) => id);
}
