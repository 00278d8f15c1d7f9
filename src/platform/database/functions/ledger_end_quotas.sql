-- Ends all quotas of an account.
-- The caller has locked the account's wallet.
create or replace function ledger_end_quotas(for_account text, at timestamptz) returns void
language sql as $$
  select ledger_end_buckets(array(
    select id from balance_bucket where account_id = for_account and is_open and source = 'quota' and ended_at is null), at)
$$;
