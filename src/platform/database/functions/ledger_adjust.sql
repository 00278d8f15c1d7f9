-- Corrects an account's cash up or down: booked; never into what is frozen: insufficient. The same reference books
-- once: already; with another amount: conflict. No such account: unknown.
-- Locks the account's wallet.
create or replace function ledger_adjust(for_account text, ref text, value numeric, why text) returns text
language plpgsql as $$
#variable_conflict use_column
declare
  cash_id     text := 'cash:' || for_account;
  transfer_id text := format('adjustment:%s:%s', for_account, ref);
  booked      numeric;
begin
  perform from wallet where account_id = for_account for no key update;
  if not found then return 'unknown'; end if;
  select case credit when cash_id then amount else -amount end into booked
    from (select id, credit, amount from transfer
          union all select id, credit, amount from archived_reference) t
   where id = transfer_id;
  if found then
    return case booked when value then 'already' else 'conflict' end;
  end if;
  update balance_bucket set remaining = remaining + value where id = cash_id and remaining - frozen + value >= 0;
  if not found then return 'insufficient'; end if;
  insert into transfer (id, unit, debit, credit, amount, account_id, kind, reference, reason, created_at)
  values (transfer_id, 'money', case when value > 0 then 'adjustment' else cash_id end,
          case when value > 0 then cash_id else 'adjustment' end, abs(value), for_account, 'adjustment', ref, why,
          ledger_now());
  return 'booked';
end $$;
