-- Renews monthly quotas and ends plans that are due, of at most so many accounts; answers how many it found.
-- Locks the wallets of their accounts, in the order of their ids, after the sweeper's own lock.
create or replace function ledger_sweep_plans(max_count int) returns int
language plpgsql as $$
declare
  ids text[];
begin
  if not ledger_try_sweep_lock('plans') then return 0; end if;
  ids := array(select account_id from wallet where renews_at <= ledger_now() order by renews_at limit max_count);
  perform ledger_lock_wallets(ids);
  return cardinality(ids);
end $$;
