import type { Queries } from "../../platform/database/database.ts";

/** What became of a claim. */
export interface AttemptRecord {
  readonly id: string;
  readonly fence: number;
  /** `back`: no attempt was made; somebody may claim it again after `wait_ms`. */
  readonly outcome: "delivered" | "retry" | "failed" | "back";
  readonly reason: "retries_spent" | "gone" | "endpoint_disabled" | "endpoint_deleted" | null;
  readonly wait_ms: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly response: string | null;
  readonly latency_ms: number;
  /** Whether it was an attempt: only those are logged, and only those say how an endpoint fares. */
  readonly attempted: boolean;
}

export interface DisabledEndpoint {
  id: string;
  disabled_reason: string;
}

/**
 * Writes down what happened to many claims in one statement: the delivery, its log, and how its endpoint
 * fares. A claim that was lost to another in the meantime changes nothing. The result are the endpoints
 * that this disabled.
 */
export async function recordAttempts(
  sql: Queries,
  notes: readonly AttemptRecord[],
  disableAfterDays: number,
): Promise<DisabledEndpoint[]> {
  return await sql<DisabledEndpoint[]>`
    with said as (
      select * from json_to_recordset(${JSON.stringify(notes)}::text::json) as n (
        id text, fence int, outcome text, reason text, wait_ms float8, status int, error text,
        response text, latency_ms int, attempted boolean)),
    recorded as (
      update webhook_delivery d
         set state = case n.outcome when 'delivered' then 'delivered'
                                    when 'failed' then 'failed' else 'pending' end,
             reason = n.reason,
             attempts = d.attempts + n.attempted::int,
             wake_at = case when n.outcome in ('retry', 'back')
                            then now() + n.wait_ms * interval '1 millisecond' end,
             ended_at = case when n.outcome in ('delivered', 'failed') then now() end,
             lease_until = null,
             last_status = case when n.attempted then n.status else d.last_status end,
             last_error = case when n.attempted then n.error else d.last_error end
        from said n
       where d.id = n.id and d.fence = n.fence and d.lease_until is not null
      returning d.id, d.endpoint_id, d.is_test, d.attempts, n.outcome, n.reason, n.attempted, n.status,
                n.error, n.response, n.latency_ms),
    logged as (
      insert into webhook_attempt (delivery_id, number, started_at, latency_ms, status, error, response)
      select id, attempts, now() - latency_ms * interval '1 millisecond', latency_ms, status, error,
             response
        from recorded where attempted),
    fared as (
      select endpoint_id, bool_or(outcome = 'delivered') as well, bool_or(reason is not distinct from 'gone') as gone
        from recorded where attempted and not is_test and endpoint_id is not null group by endpoint_id),
    changed as (
      update webhook_endpoint e
         set failing_since = case when not f.well then coalesce(e.failing_since, now()) end,
             disabled_at = case when e.disabled_at is not null or not (f.gone or f.is_hopeless)
                                then e.disabled_at else now() end,
             disabled_reason = case when e.disabled_at is not null then e.disabled_reason
                                    when f.gone then 'gone' when f.is_hopeless then 'failing' end
        from (select fared.*, not well and coalesce(failing_since, now())
                       <= now() - make_interval(days => ${disableAfterDays}) as is_hopeless
                from fared join webhook_endpoint on id = endpoint_id) f
       where e.id = f.endpoint_id
         and ((f.well and e.failing_since is not null) or (not f.well and e.failing_since is null)
              or ((f.gone or f.is_hopeless) and e.disabled_at is null))
      returning e.id, e.disabled_reason, e.disabled_at = now() as is_new)
    select id, disabled_reason from changed where is_new`;
}
