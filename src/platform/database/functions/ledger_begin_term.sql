-- Begins the next plan term of an account. The caller has ended the one before.
-- The caller has locked the account's wallet.
create or replace function ledger_begin_term(for_account text, to_plan text, from_at timestamptz, to_at timestamptz)
returns void language sql as $$
  insert into plan_term (account_id, number, plan, starts_at, ends_at)
  select for_account, coalesce(max(number), 0) + 1, to_plan, from_at, to_at
    from plan_term where account_id = for_account
$$;
