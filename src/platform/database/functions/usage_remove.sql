-- Takes a resolved request out of usage_day, if it is in the sums, so that its receipt can be corrected: the new line
-- is added like any other.
-- Locks the row of usage_watermark until the end of the transaction: no sums are made meanwhile.
create or replace function usage_remove(resolved receipt) returns void
language plpgsql as $$
declare
  rolled_up timestamptz;
begin
  select through into strict rolled_up from usage_watermark for update;
  if resolved.resolved_at >= rolled_up then return; end if;
  update usage_day d
     set calls = d.calls - l.calls, failed = d.failed - l.failed, charged = d.charged - l.charged,
         quota = d.quota - l.quota, cost = d.cost - l.cost, uncosted = d.uncosted - l.uncosted,
         input_tokens = d.input_tokens - l.input_tokens, output_tokens = d.output_tokens - l.output_tokens,
         images = d.images - l.images, seconds = d.seconds - l.seconds,
         characters = d.characters - l.characters
    from usage_line l
   where l.receipt_id = resolved.id and d.account_id = l.account_id and d.day = l.day and d.model = l.model;
  delete from usage_day d
   where d.account_id = resolved.account_id and d.day = (resolved.resolved_at at time zone 'UTC')::date
     and d.model = resolved.model and d.calls = 0 and d.failed = 0;
end $$;
