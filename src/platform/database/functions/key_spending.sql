-- What a key has spent in the current period of its budget (by UTC; a week begins on Monday), and what open holds keep
-- of it besides. Without a period, or with `total`: ever; then `since` and `renews_at` are null.
-- Locks nothing; exact while the caller has locked the wallet of the key's account.
create or replace function key_spending(for_key text, for_account text, period text, at timestamptz,
                                        out since timestamptz, out renews_at timestamptz, out spent numeric,
                                        out held numeric)
language plpgsql
set enable_seqscan = off
as $$
begin
  if period <> 'total' then
    since := date_trunc(period, at at time zone 'UTC') at time zone 'UTC';
    renews_at := (date_trunc(period, at at time zone 'UTC') + ('1 ' || period)::interval) at time zone 'UTC';
  end if;
  select coalesce(sum(s.amount), 0) into spent
    from key_spend s
   where s.key_id = for_key and s.day >= coalesce((since at time zone 'UTC')::date, '-infinity');
  select coalesce(sum(l.part), 0) into held
    from hold h, unnest(h.allocations, h.held) as l (bucket, part)
   where h.account_id = for_account and h.created_at >= coalesce(since, '-infinity') and h.key_id = for_key
     and l.bucket not like 'quota:%';
end $$;
