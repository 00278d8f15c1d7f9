-- Adds resolved requests to usage_day, about so many at most; answers whether there are more. Each request is added
-- exactly once.
-- Locks the row of usage_watermark, after the sweeper's own lock: no late settlement changes the sums meanwhile.
create or replace function usage_roll_up(max_count int) returns boolean
language plpgsql
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set jit = off
as $$
declare
  since timestamptz;
  until timestamptz;
  place timestamptz;
begin
  if not ledger_try_sweep_lock('usage') then return false; end if;
  -- Not while a late settlement takes a line out of the sums.
  select through into strict since from usage_watermark for update;
  -- What is resolved but not committed yet was resolved after its transaction began, and that one has
  -- locked a wallet, so it has a number: nothing can turn up later before the oldest of those.
  until := least(ledger_now() - interval '5 seconds',
                 (select min(xact_start) from pg_stat_activity
                   where datname = current_database() and backend_xid is not null));
  select resolved_at into place
    from (select resolved_at from receipt union all select resolved_at from receipt_correction) r
   where resolved_at >= since and resolved_at < until order by resolved_at offset max_count limit 1;
  if place = since then
    -- More of one moment than fit: take the moment whole.
    select min(resolved_at) into place
      from (select resolved_at from receipt union all select resolved_at from receipt_correction) r
     where resolved_at > since and resolved_at < until;
  end if;
  until := coalesce(place, until);
  if until <= since then return false; end if;

  insert into usage_day as d (account_id, day, model, plan, upstream, calls, failed, charged, gift, quota, shortfall,
                              capped, cost, uncosted, uncosted_charged, input_tokens, output_tokens, images, seconds,
                              characters)
  select account_id, day, model, plan, upstream, sum(calls), sum(failed), sum(charged), sum(gift), sum(quota),
         sum(shortfall), sum(capped), sum(cost), sum(uncosted), sum(uncosted_charged), sum(input_tokens),
         sum(output_tokens), sum(images), sum(seconds), sum(characters)
    from usage_line where resolved_at >= since and resolved_at < until
   group by account_id, day, model, plan, upstream
  on conflict (account_id, day, model, plan, upstream) do update
     set calls = d.calls + excluded.calls, failed = d.failed + excluded.failed,
         charged = d.charged + excluded.charged, gift = d.gift + excluded.gift, quota = d.quota + excluded.quota,
         shortfall = d.shortfall + excluded.shortfall, capped = d.capped + excluded.capped,
         cost = d.cost + excluded.cost, uncosted = d.uncosted + excluded.uncosted,
         uncosted_charged = d.uncosted_charged + excluded.uncosted_charged,
         input_tokens = d.input_tokens + excluded.input_tokens,
         output_tokens = d.output_tokens + excluded.output_tokens,
         images = d.images + excluded.images, seconds = d.seconds + excluded.seconds,
         characters = d.characters + excluded.characters;
  -- Nodes give ids, by their clocks: a request that is not known here yet is from today.
  update usage_watermark
     set through = until,
         oldest_id = least(
           ledger_id_at(until - interval '1 day') collate "C",
           (select min(id) from hold) collate "C",
           (select min(id) from (select id from final_receipt where resolved_at >= until offset 0) r));
  return place is not null;
end $$;
