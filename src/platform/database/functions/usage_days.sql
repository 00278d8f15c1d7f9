-- Usage per day and model from a day on, up to the present: the sums, plus the requests that are not in them yet.
-- For one account, or with null for all.
-- Locks nothing.
create or replace function usage_days(for_account text, from_day date) returns setof usage_day
language plpgsql stable
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  since timestamptz;
begin
  -- The mark and what it divides are read from one snapshot: a stable function has its caller's.
  select through into strict since from usage_watermark;
  return query
  select account_id, day, model, sum(calls)::bigint, sum(failed)::bigint, sum(charged)::numeric(32, 12),
         sum(quota)::bigint, sum(cost)::numeric(32, 12), sum(uncosted)::bigint, sum(input_tokens)::bigint,
         sum(output_tokens)::bigint, sum(images)::bigint, sum(seconds)::numeric(32, 12), sum(characters)::bigint
    from (
      select * from usage_day where (for_account is null or account_id = for_account) and day >= from_day
      union all
      select account_id, day, model, calls, failed, charged, quota, cost, uncosted, input_tokens,
             output_tokens, images, seconds, characters
        from usage_line
       where resolved_at >= greatest(since, from_day::timestamp at time zone 'UTC')
         and (for_account is null or account_id = for_account)) lines
   group by account_id, day, model
   order by day, account_id, model;
end $$;
