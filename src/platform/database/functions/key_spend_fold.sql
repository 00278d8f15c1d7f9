-- Makes one row per key of each month before the last one: no budget asks for their days any more. Answers how many rows
-- are gone.
-- Locks the rows of those months.
create or replace function key_spend_fold(at timestamptz) returns bigint
language sql as $$
  with gone as (
    delete from key_spend
     where day < date_trunc('month', at at time zone 'UTC') - interval '1 month' and extract(day from day) <> 1
    returning *),
  folded as (
    insert into key_spend as s
    select key_id, date_trunc('month', day)::date, sum(amount) from gone group by 1, 2
    on conflict (key_id, day) do update set amount = s.amount + excluded.amount)
  select count(*) from gone
$$;
