-- Returns amounts that a reserve has kept frozen to their buckets. What belongs to a bucket that has ended expires.
-- The caller has locked the account's wallet.
create or replace function ledger_return_reserved(account text, buckets text[], amounts numeric[], at timestamptz)
returns void language sql as $$
  with returned as (
    select p.id, p.unit, l.amount, p.ended_at is not null or coalesce(p.ends_at <= at, false) as is_over
      from unnest(buckets, amounts) as l (bucket, amount) join balance_bucket p on p.id = l.bucket
     where l.amount > 0),
  expired as (
    insert into transfer (id, unit, debit, credit, amount, account_id, kind, created_at)
    select gen_random_uuid() || '/expired', unit, id, case unit when 'money' then 'breakage' else 'quota_breakage' end,
           amount, account, 'breakage', at
      from returned where is_over)
  update balance_bucket p set frozen = p.frozen - r.amount,
                              remaining = p.remaining - case when r.is_over then r.amount else 0 end
    from returned r where p.id = r.id
$$;
