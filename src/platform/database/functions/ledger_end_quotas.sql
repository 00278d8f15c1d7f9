-- Ends all quotas of an account.
-- The caller has locked the account's wallet.
create or replace function ledger_end_quotas(payer text, at timestamptz) returns void
language sql as $$
  select ledger_end_pots(array(
    select id from pot where account_id = payer and is_open and source = 'quota' and ended_at is null), at)
$$;
