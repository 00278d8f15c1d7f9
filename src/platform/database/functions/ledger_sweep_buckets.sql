-- Books the end of promotional credits and quotas that have expired, at most so many; answers how many it found.
-- Locks the wallets of their accounts, in the order of their ids, after the sweeper's own lock.
create or replace function ledger_sweep_buckets(max_count int) returns int
language plpgsql as $$
declare
  ids text[];
begin
  if not ledger_try_sweep_lock('buckets') then return 0; end if;
  ids := array(select id from balance_bucket where is_open and ended_at is null and ends_at <= ledger_now()
                order by ends_at limit max_count);
  perform from wallet where account_id = any (array(select account_id from balance_bucket where id = any (ids)))
    order by account_id for no key update;
  -- A plan that was extended while we waited for the locks has moved the end of its quotas.
  perform ledger_end_buckets(
    array(select id from balance_bucket where id = any (ids) and ends_at <= ledger_now()), ledger_now());
  return cardinality(ids);
end $$;
