-- Books money in: booked. The same reference books once: already; with another amount, source or end: conflict.
-- An end in the past: past. No such account: unknown.
-- Locks the account's wallet.
create or replace function ledger_credit(for_account text, ref text, to_source bucket_source, value numeric, gift_id text,
                              to_ends_at timestamptz, out outcome text, out bucket_id text)
language plpgsql as $$
#variable_conflict use_column
declare
  at          timestamptz;
  transfer_id text := format('credit:%s:%s', for_account, ref);
begin
  perform from wallet where account_id = for_account for no key update;
  if not found then
    outcome := 'unknown';
    return;
  end if;
  select case when t.amount = value and p.source = to_source and p.ends_at is not distinct from to_ends_at
              then 'already' else 'conflict' end, p.id
    into outcome, bucket_id
    from (select id, credit, amount from transfer
          union all select id, credit, amount from archived_reference) t
    join balance_bucket p on p.id = t.credit where t.id = transfer_id;
  if found then return; end if;

  at := ledger_now();
  if to_ends_at <= at then
    outcome := 'past';
    return;
  end if;
  bucket_id := case to_source when 'cash' then 'cash:' || for_account else gift_id end;
  if to_source = 'cash' then
    update balance_bucket set remaining = remaining + value where id = bucket_id;
  else
    insert into balance_bucket (id, account_id, source, unit, granted, remaining, created_at, ends_at)
    values (gift_id, for_account, to_source, 'money', value, value, at, to_ends_at);
  end if;
  insert into transfer (id, unit, debit, credit, amount, account_id, kind, reference, created_at)
  values (transfer_id, 'money', case to_source when 'cash' then 'topup' else 'gift_expense' end, bucket_id,
          value, for_account, 'credit', ref, at);
  -- What is used before cash must not wait behind reserves of cash.
  perform ledger_recall(for_account, at);
  outcome := 'booked';
end $$;
