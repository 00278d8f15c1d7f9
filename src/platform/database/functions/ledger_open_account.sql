-- Gives a new account its wallet, its cash bucket (empty) and its first plan term.
-- Locks nothing: no other transaction sees the account yet.
create or replace function ledger_open_account(payer text, plan text, plan_ends_at timestamptz, at timestamptz)
returns void language sql as $$
  insert into wallet (account_id) values (payer);
  insert into pot (id, account_id, source, unit, remaining, created_at)
  values ('cash:' || payer, payer, 'cash', 'money', 0, at);
  select ledger_begin_term(payer, plan, at, plan_ends_at);
  select ledger_turn(payer, at);
$$;
