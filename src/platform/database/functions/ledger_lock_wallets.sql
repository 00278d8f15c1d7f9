-- Locks accounts for a booking and brings their plans up to date. Unknown accounts are left out.
-- Locks the accounts' wallets, in the order of their ids: two calls cannot wait for each other.
create or replace function ledger_lock_wallets(account_ids text[]) returns void
language plpgsql as $$
declare
  locked wallet;
begin
  for locked in
    select * from wallet where account_id = any (account_ids) order by account_id for no key update
  loop
    if locked.renews_at <= ledger_now() then
      perform ledger_renew_plan(locked.account_id, ledger_now());
    end if;
  end loop;
end $$;
