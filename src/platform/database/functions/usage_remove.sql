-- Takes a resolved request out of usage_day, if it is in the sums, so that its receipt can be corrected: the new line
-- is added like any other.
-- Locks the row of usage_watermark until the end of the transaction: no sums are made meanwhile.
create or replace function usage_remove(resolved receipt) returns void
language plpgsql as $$
declare
  rolled_up timestamptz;
begin
  select through into strict rolled_up from usage_watermark for update;
  update usage_watermark set oldest_id = least(oldest_id, resolved.id collate "C");
  if resolved.resolved_at >= rolled_up then return; end if;
  update usage_day d
     set calls = d.calls - l.calls, failed = d.failed - l.failed, charged = d.charged - l.charged,
         gift = d.gift - l.gift, quota = d.quota - l.quota, shortfall = d.shortfall - l.shortfall,
         capped = d.capped - l.capped, cost = d.cost - l.cost, uncosted = d.uncosted - l.uncosted,
         uncosted_charged = d.uncosted_charged - l.uncosted_charged,
         input_tokens = d.input_tokens - l.input_tokens, output_tokens = d.output_tokens - l.output_tokens,
         images = d.images - l.images, seconds = d.seconds - l.seconds,
         characters = d.characters - l.characters
    from (select account_id, day, model, plan, upstream, sum(calls) as calls, sum(failed) as failed,
                 sum(charged) as charged, sum(gift) as gift, sum(quota) as quota, sum(shortfall) as shortfall,
                 sum(capped) as capped, sum(cost) as cost, sum(uncosted) as uncosted,
                 sum(uncosted_charged) as uncosted_charged, sum(input_tokens) as input_tokens,
                 sum(output_tokens) as output_tokens, sum(images) as images, sum(seconds) as seconds,
                 sum(characters) as characters
            from usage_line where receipt_id = resolved.id
           group by account_id, day, model, plan, upstream) l
   where (d.account_id, d.day, d.model, d.plan, d.upstream) = (l.account_id, l.day, l.model, l.plan, l.upstream);
  delete from usage_day d
   where d.account_id = resolved.account_id and d.day = (resolved.resolved_at at time zone 'UTC')::date
     and d.model = resolved.model and (d.calls, d.failed, d.charged, d.cost, d.uncosted) = (0, 0, 0, 0, 0);
end $$;
