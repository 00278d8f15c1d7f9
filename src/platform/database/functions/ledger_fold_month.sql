-- Folds the receipts and transfers of a month into totals, so that the rows can be dropped: what usage, statements and
-- ledger verify need of them afterwards. Also deletes what is not partitioned and belongs to the month: corrections,
-- quotas that have ended, plans that have ended. `first_id` and `end_id` are the bounds of the receipts' ids.
-- The caller has stopped writes to the partitions of the month, and drops them in the same transaction.
-- Locks the row of usage_watermark, at the end.
create or replace function ledger_fold_month(for_month date, first_id text, end_id text) returns void
language plpgsql
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
  since timestamptz := for_month::timestamp at time zone 'UTC';
  until timestamptz := (for_month + interval '1 month') at time zone 'UTC';
begin
  insert into receipt_total
  select for_month, account_id, model, nullif(upstream, ''), sum(calls + failed), sum(calls), sum(charged - gift),
         sum(gift), sum(quota), sum(shortfall), sum(cost), sum(uncosted), sum(input_tokens), sum(output_tokens),
         sum(images), sum(seconds), sum(characters)
    from usage_line where receipt_id >= first_id and receipt_id < end_id
   group by account_id, model, upstream;

  insert into transfer_total
  select for_month, account_id, unit, debit, credit, kind, count(*), sum(amount)
    from transfer where created_at >= since and created_at < until
   group by account_id, unit, debit, credit, kind;

  insert into archived_reference
  select id, debit, credit, amount
    from transfer where created_at >= since and created_at < until and kind in ('credit', 'adjustment');

  insert into archive_remainder as a
  select rule, subject, bucket, sum(amount)
    from (
      select 'capture' as rule, batch::text as subject, bucket, part as amount
        from receipt, unnest(allocations, taken) as l (bucket, part) where id >= first_id and id < end_id
      union all
      select 'capture', batch::text, bucket, part
        from receipt_correction, unnest(allocations, taken) as l (bucket, part) where id >= first_id and id < end_id
      union all
      select 'capture', c.batch::text, bucket, -part
        from receipt_correction c join receipt r on r.id = c.id, unnest(r.allocations, r.taken) as l (bucket, part)
       where c.id >= first_id and c.id < end_id and r.id >= first_id and r.id < end_id
      union all
      select 'capture', coalesce(batch::text, ''), case when debit in ('revenue', 'quota_used') then credit else debit end,
             case when debit in ('revenue', 'quota_used') then amount else -amount end
        from transfer where kind = 'capture' and created_at >= since and created_at < until
      union all
      select 'shortfall', id, '', shortfall from final_receipt where id >= first_id and id < end_id
      union all
      select 'shortfall', hold_id, '', case debit when 'revenue' then amount else -amount end
        from transfer where kind = 'shortfall' and created_at >= since and created_at < until) parts
   group by rule, subject, bucket having sum(amount) <> 0
  on conflict (rule, subject, bucket) do update set amount = a.amount + excluded.amount;
  -- What a key spent on days of months to come, by receipts of this one.
  insert into archive_remainder as a
  select 'spend', r.key_id, (r.created_at at time zone 'UTC')::date::text, sum(l.part)
    from final_receipt r, unnest(r.allocations, r.taken) as l (bucket, part)
   where r.id >= first_id and r.id < end_id and r.created_at >= until and r.key_id is not null
     and l.bucket not like 'quota:%'
   group by 2, 3 having sum(l.part) <> 0
  on conflict (rule, subject, bucket) do update set amount = a.amount + excluded.amount;
  delete from archive_remainder
   where amount = 0 or rule = 'spend' and bucket::date < for_month + interval '1 month';

  delete from balance_bucket
   where source = 'quota' and ended_at < until and remaining = 0 and frozen = 0 and not is_open;
  delete from plan_term where ended_at < until;

  -- Not while a late settlement takes a line out of the sums.
  perform from usage_watermark for update;
  with days as (
    delete from usage_day where day >= for_month and day < for_month + interval '1 month' returning *)
  insert into usage_day (account_id, day, model, plan, upstream, calls, failed, charged, gift, quota, shortfall, capped,
                         cost, uncosted, uncosted_charged, input_tokens, output_tokens, images, seconds, characters)
  select account_id, for_month, model, plan, upstream, sum(calls), sum(failed), sum(charged), sum(gift), sum(quota),
         sum(shortfall), sum(capped), sum(cost), sum(uncosted), sum(uncosted_charged), sum(input_tokens),
         sum(output_tokens), sum(images), sum(seconds), sum(characters)
    from days group by account_id, model, plan, upstream;
end $$;
