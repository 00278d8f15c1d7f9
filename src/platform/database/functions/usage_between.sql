-- Usage from a day on and before another, up to the present: the sums, plus the requests that are not in them yet. A day,
-- model, plan and upstream may come twice: the parts add up. For one account, or with null for all; with null to the end.
-- Locks nothing.
create or replace function usage_between(for_account text, from_day date, to_day date) returns setof usage_day
language plpgsql stable
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  since  timestamptz;
  oldest text collate "C"; -- tells Postgres which partitions it need not look into
begin
  -- The mark and what it divides are read from one snapshot: a stable function has its caller's.
  select through, oldest_id into strict since, oldest from usage_watermark;
  return query
  select * from usage_day
   where (for_account is null or account_id = for_account) and day >= from_day and (to_day is null or day < to_day);
  return query
  select account_id, day, model, sum(calls)::bigint, sum(failed)::bigint, sum(charged)::numeric(32, 12),
         sum(quota)::bigint, sum(cost)::numeric(32, 12), sum(uncosted)::bigint, sum(input_tokens)::bigint,
         sum(output_tokens)::bigint, sum(images)::bigint, sum(seconds)::numeric(32, 12), sum(characters)::bigint,
         plan, upstream, sum(gift)::numeric(32, 12), sum(shortfall)::numeric(32, 12), sum(capped)::bigint,
         sum(uncosted_charged)::numeric(32, 12)
    from usage_line
   where resolved_at >= greatest(since, from_day::timestamp at time zone 'UTC')
     and receipt_id >= oldest
     and (to_day is null or resolved_at < to_day::timestamp at time zone 'UTC')
     and (for_account is null or account_id = for_account)
   group by account_id, day, model, plan, upstream;
end $$;
