-- Books the end of balance buckets: what is left expires, what is frozen stays until its holds are resolved.
-- Ending a bucket again changes nothing.
-- The caller has locked the wallets of the buckets' accounts.
create or replace function ledger_end_buckets(ids text[], at timestamptz) returns void
language sql as $$
  with ended as (
    insert into transfer (id, unit, debit, credit, amount, account_id, kind, created_at)
    select id || '/expired', unit, id, case unit when 'money' then 'breakage' else 'quota_breakage' end,
           remaining - frozen, account_id, 'breakage', at
      from balance_bucket where id = any (ids) and remaining > frozen and ended_at is null)
  update balance_bucket set remaining = frozen, ended_at = at, ends_at = least(ends_at, at)
   where id = any (ids) and ended_at is null
$$;
