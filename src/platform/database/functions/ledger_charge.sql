-- Books the usual charges of a ledger_run all at once: those whose price fits into what their request has drawn from
-- the cash of a reserve. Others are left out of the result, and all of them if one was booked before, or is so old that
-- its receipt may be archived; ledger_run handles those one by one. `charges` are rows with what differs between requests; `groups` has the rest.
--
-- Prices are rounded half up together with the differences that rounding left from earlier charges: an account's sum is
-- rounded after each charge, and a charge is the difference to the sum before it.
-- The caller has locked the wallets of all accounts concerned.
create or replace function ledger_charge(charge_groups json, charges charge_row[], p_scale int, at timestamptz,
                                         batch_id uuid)
returns setof ledger_outcome
language plpgsql
set enable_seqscan = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  step  numeric := ('1e-' || p_scale)::numeric; -- the smallest amount
  steps numeric := ('1e' || p_scale)::numeric; -- so many of it are one
  -- Two values instead of an array tell Postgres which partitions it need not look into. And the order of ids tells it
  -- to use their own index, also in a partition that was empty when it last looked: there any other one seems as good.
  first text collate "C";
  last  text collate "C";
  ids   text[];
begin
  select min(id collate "C"), max(id collate "C"), array_agg(id) into first, last, ids from unnest(charges);
  if exists (select from hold where id = any (ids))
    or (select id from receipt where id = any (ids) and id between first and last order by id limit 1) is not null
    or ledger_time_of(first) < at - interval '1 month' then
    return;
  end if;
  return query
  with given as materialized (
    select *, div(num * 1e18, den) * 1e-18 as exact
      from unnest(charges)
      join json_to_recordset(charge_groups) as c (
        g int, account_id text, den numeric, model text, kind text, price jsonb, upstream text, beyond_hold boolean,
        reserve_id text, bucket text, key_id text, endpoint text) using (g)),
  -- Looked up once, not for each item: their rows change with every batch, and have many old versions.
  source as materialized (
    select g.reserve_id, g.bucket, p.carry, array_position(r.allocations, g.bucket) as slot
      from (select reserve_id, account_id, bucket, sum(drawn) as drawn from given group by 1, 2, 3) g
      join reserve r on r.id = g.reserve_id
      join balance_bucket p on p.id = g.bucket and p.account_id = g.account_id
     where p.source = 'cash' and g.drawn <= r.held[array_position(r.allocations, g.bucket)]
       and p.carry * steps >= -0.5 and p.carry * steps < 0.5),
  summed as (
    select i.*, s.slot, s.carry + sum(exact) over (partition by account_id order by n) as upto
      from given i join source s using (reserve_id, bucket)
     where i.num >= 0 and i.num <= (i.drawn - step) * i.den),
  priced as materialized (
    select *, (floor(upto * steps + 0.5) * step - floor((upto - exact) * steps + 0.5) * step)::numeric(32, 12) as taken
      from summed),
  written as (
    insert into receipt (id, account_id, request_id, client_request_id, model, kind, state, scale, amount, units,
                         allocations, held, taken, shortfall, beyond_hold, price, usage, upstream, cost, created_at,
                         resolved_at, batch, key_id, end_user, metadata, endpoint)
    select id, account_id, coalesce(request_id, id), client_request_id, model, kind, 'settled', p_scale, drawn,
           max_units, array[bucket], array[drawn], array[taken], 0, beyond_hold, price, usage, upstream, cost,
           least(begun_at, at), at, batch_id, key_id, end_user, metadata, endpoint
      from priced),
  spent as (
    insert into key_spend as s
    select key_id, (least(begun_at, at) at time zone 'UTC')::date, sum(taken)
      from priced where key_id is not null group by 1, 2 having sum(taken) > 0
    on conflict (key_id, day) do update set amount = s.amount + excluded.amount),
  used as materialized (
    select reserve_id, slot, account_id, bucket, sum(taken) as taken, sum(exact) - sum(taken) as carry,
           sum(case when is_told then drawn else 0 end) as told
      from priced group by 1, 2, 3, 4),
  reserved as (
    update reserve r
       set held[slot] = held[slot] - taken,
           drawn[slot] = greatest(0, least(drawn[slot] - told, held[slot] - taken))
      from used u where r.id = u.reserve_id),
  totals as materialized (
    select account_id, bucket, sum(taken) as taken, sum(carry) as carry from used group by 1, 2),
  taken as (
    update balance_bucket p
       set remaining = p.remaining - t.taken, frozen = p.frozen - t.taken, carry = p.carry + t.carry
      from totals t where p.id = t.bucket),
  booked as (
    insert into transfer (id, unit, debit, credit, amount, account_id, kind, created_at, batch)
    select batch_id || '/' || bucket, 'money', bucket, 'revenue', taken, account_id, 'capture', at, batch_id
      from totals where taken > 0)
  select n, id, 'resolved', 'settled', array[bucket], array[drawn], array[taken::numeric], 0::numeric, account_id,
         null::int, null::numeric
    from priced;
end $$;
