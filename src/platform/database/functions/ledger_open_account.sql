-- Gives a new account its wallet, its cash bucket (empty) and its first plan term.
-- Locks nothing: no other transaction sees the account yet.
create or replace function ledger_open_account(for_account text, plan text, plan_ends_at timestamptz, at timestamptz)
returns void language sql as $$
  insert into wallet (account_id) values (for_account);
  insert into balance_bucket (id, account_id, source, unit, remaining, created_at)
  values ('cash:' || for_account, for_account, 'cash', 'money', 0, at);
  select ledger_begin_term(for_account, plan, at, plan_ends_at);
  select ledger_renew_plan(for_account, at);
$$;
