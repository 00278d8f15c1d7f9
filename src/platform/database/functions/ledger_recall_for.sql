-- Recalls an account's reserves if they could pay for what is insufficient without them: a price of num / den for so
-- many units, of which quota covers some already and money pays a part. Answers after how many milliseconds all of it is
-- free at the latest, also if a node is dead; null if it would not be enough.
-- The caller has locked the account's wallet.
create or replace function ledger_recall_for(for_account text, at timestamptz, for_kind text, num numeric, den numeric,
                                             units bigint, scale int, covered bigint, paid numeric) returns int
language plpgsql
set enable_seqscan = off
set enable_nestloop = on -- ledger_run_items has switched it off
as $$
declare
  money  numeric;
  quota  bigint;
  owed   numeric;
  ms     int;
begin
  -- What a node has said to be drawn counts as reserved until it has had a second to answer the recall: those requests
  -- may be over.
  select sum(l.amount) filter (where b.unit = 'money'), trunc(sum(l.amount) filter (where b.unit = for_kind)),
         max(least(l.lease_ms, greatest(0, extract(epoch from l.expires_at - at) * 1000)))
    into money, quota, ms
    from (select l.bucket, r.lease_ms, r.expires_at,
                 case when r.recalled_at < at - interval '1 second' then l.held - l.drawn else l.held end as amount
            from reserve r, unnest(r.allocations, r.held, r.drawn) as l (bucket, held, drawn)
           where r.account_id = for_account) l
    join balance_bucket b on b.id = l.bucket
   where l.amount > 0 and b.ended_at is null and coalesce(b.ends_at > at, true);
  if ms is null then return null; end if;

  owed := case when units > 0 and for_kind is not null
    then ledger_round_up(num, den, greatest(0, units - covered - coalesce(quota, 0)), units, scale)
    else ledger_round_up(num, den, 1, 1, scale) end;
  if owed - paid > coalesce(money, 0) then return null; end if;
  perform ledger_recall(for_account, at);
  return ms;
end $$;
