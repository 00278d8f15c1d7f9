-- Returns reserves whose lease has ended, of at most so many accounts; answers how many. After the database's clock was
-- set back, a lease that ends impossibly late has ended too. Any number of nodes may call it: accounts that another one
-- works on are left out. Of one account only: waits for it.
-- Locks the wallets of their accounts, in the order of their ids.
create or replace function ledger_sweep_reserves(max_count int, for_account text default null) returns int
language plpgsql
set lock_timeout = '500ms'
as $$
#variable_conflict use_column
declare
  due    text[];
  locked text[];
  ended  reserve;
  swept  int := 0;
begin
  due := array(
    select account_id from reserve
     where (expires_at <= ledger_now() or expires_at > ledger_now() + 2 * lease_ms * interval '1 millisecond')
       and account_id = coalesce(for_account, account_id));
  if cardinality(due) = 0 then return 0; end if;
  if for_account is null then
    locked := array(
      select account_id from wallet where account_id = any (due) order by account_id limit max_count
         for no key update skip locked);
  else
    locked := array(select account_id from wallet where account_id = for_account for no key update);
  end if;
  for ended in
    delete from reserve
     where account_id = any (locked)
       and (expires_at <= ledger_now() or expires_at > ledger_now() + 2 * lease_ms * interval '1 millisecond')
    returning *
  loop
    perform ledger_return_reserved(ended.account_id, ended.allocations, ended.held, ledger_now());
    swept := swept + 1;
  end loop;
  return swept;
end $$;
