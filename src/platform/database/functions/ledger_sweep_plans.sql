-- Renews monthly quotas and ends plans that are due, of at most so many accounts; answers how many it found.
-- Locks the wallets of their accounts, in the order of their ids, after the sweeper's own lock.
create or replace function ledger_sweep_plans(most int) returns int
language plpgsql as $$
declare
  ids text[];
  due wallet;
begin
  if not ledger_is_my_sweep('plans') then return 0; end if;
  ids := array(select account_id from wallet where turns_at <= ledger_now() order by turns_at limit most);
  for due in select * from wallet where account_id = any (ids) order by account_id for no key update loop
    if due.turns_at <= ledger_now() then
      perform ledger_turn(due.account_id, ledger_now());
    end if;
  end loop;
  return cardinality(ids);
end $$;
