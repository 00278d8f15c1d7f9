-- Returns reserves whose lease has ended, at most so many; answers how many. Any number of nodes may call it.
-- Locks the wallets of their accounts, in the order of their ids.
create or replace function ledger_sweep_reserves(max_count int) returns int
language plpgsql as $$
declare
  ids     text[];
  expired reserve;
  swept   int := 0;
begin
  ids := array(select id from reserve where expires_at <= ledger_now() order by expires_at limit max_count);
  if cardinality(ids) = 0 then return 0; end if;
  perform ledger_lock_wallets(array(select account_id from reserve where id = any (ids)));
  for expired in
    delete from reserve where id = any (ids) and expires_at <= ledger_now() returning *
  loop
    perform ledger_return_reserved(expired.account_id, expired.allocations, expired.held, ledger_now());
    swept := swept + 1;
  end loop;
  return swept;
end $$;
