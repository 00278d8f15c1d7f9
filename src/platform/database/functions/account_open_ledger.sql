-- Every account has a wallet, cash and a plan term from its first moment.
-- Locks nothing: no other transaction sees the account yet.
create or replace function account_open_ledger() returns trigger language plpgsql as $$
begin
  perform ledger_open_account(new.id, new.plan, new.plan_expires_at, ledger_now());
  return null;
end $$;

create or replace trigger account_has_wallet after insert on account
  for each row execute function account_open_ledger();
