-- Usage of one account for a chart: a line per day and model (two lines where a part is not in the sums yet) with
-- day, model, calls, failed, charged and tokens, separated by tabs. One text, because a thousand rows cost the
-- driver several times what they cost the database.
-- Locks nothing.
create or replace function usage_chart(for_account text, from_day date) returns text
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
  select through, oldest_id into strict since, oldest from usage_watermark;
  return (
    select string_agg(concat_ws(E'\t', day, model, calls, failed, charged, tokens), E'\n')
      from (
        select day, model, calls, failed, charged, input_tokens + output_tokens as tokens
          from usage_day where account_id = for_account and day >= from_day
        union all
        select day, model, sum(calls), sum(failed), sum(charged), sum(input_tokens + output_tokens)
          from usage_line
         where resolved_at >= greatest(since, from_day::timestamp at time zone 'UTC')
           and receipt_id >= oldest and account_id = for_account
         group by day, model) lines);
end $$;
