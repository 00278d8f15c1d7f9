-- Recalls an account's reserves if they could pay for what is insufficient without them: a price of num / den for so
-- many units, of which quota covers some already and money pays a part; or for shares (see ledger_item), with what quota
-- covers of each already. Answers after how many milliseconds all of it is free at the latest, also if a node is dead;
-- null if it would not be enough.
-- The caller has locked the account's wallet.
create or replace function ledger_recall_for(for_account text, at timestamptz, for_kind text, num numeric, den numeric,
                                             units bigint, scale int, covered bigint, paid numeric,
                                             of_shares jsonb default null) returns int
language plpgsql
set enable_seqscan = off
set enable_nestloop = on -- ledger_run_items has switched it off
as $$
declare
  reserved record; -- of one unit
  money    numeric := 0;
  quota    bigint := 0;
  owed     numeric;
  ms       int;
begin
  -- What a node has said to be drawn counts as reserved until it has had a second to answer the recall: those requests
  -- may be over.
  for reserved in
    select b.unit, sum(l.amount) as amount,
           max(least(l.lease_ms, greatest(0, extract(epoch from l.expires_at - at) * 1000)))::int as ms
      from (select l.bucket, r.lease_ms, r.expires_at,
                   case when r.recalled_at < at - interval '1 second' then l.held - l.drawn else l.held end as amount
              from reserve r, unnest(r.allocations, r.held, r.drawn) as l (bucket, held, drawn)
             where r.account_id = for_account) l
      join balance_bucket b on b.id = l.bucket
     where l.amount > 0 and b.ended_at is null and coalesce(b.ends_at > at, true)
     group by b.unit
  loop
    ms := greatest(ms, reserved.ms);
    if reserved.unit = 'money' then
      money := reserved.amount;
    elsif of_shares is not null then
      of_shares := (select c.shares from ledger_cover(of_shares, reserved.unit, reserved.amount) c);
    elsif reserved.unit = for_kind then
      quota := trunc(reserved.amount);
    end if;
  end loop;
  if ms is null then return null; end if;

  owed := case
    when of_shares is not null
      then (select ledger_round_up(u.num, u.den, 1, 1, scale) from ledger_uncovered(num, den, of_shares) u)
    when units > 0 and for_kind is not null
      then ledger_round_up(num, den, greatest(0, units - covered - quota), units, scale)
    else ledger_round_up(num, den, 1, 1, scale) end;
  if owed - paid > money then return null; end if;
  perform ledger_recall(for_account, at);
  return ms;
end $$;
