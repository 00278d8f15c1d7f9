-- Books the usual charges of a ledger_batch all at once: those whose price fits into what their request has drawn from
-- the cash of a reserve. Others, and those that were booked before, are left out of the result; ledger_batch handles
-- them one by one. `charges` has columns, not rows, and each price once: that parses twice as fast.
--
-- Prices are rounded half up together with the differences that rounding left from earlier charges: an account's sum is
-- rounded after each charge, and a charge is the difference to the sum before it.
-- The caller has locked the wallets of all accounts concerned.
create or replace function ledger_charge(charges charge_columns, at timestamptz, batch_id uuid)
returns setof ledger_outcome
language plpgsql
set enable_seqscan = off
set enable_nestloop = on -- ledger_batch has switched it off
set enable_mergejoin = off
set enable_hashjoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  step  numeric := ('1e-' || charges.scale)::numeric; -- the smallest amount
  steps numeric := ('1e' || charges.scale)::numeric; -- so many of it are one
begin
  return query
  with given as materialized (
    select * from unnest(
      charges.n, charges.id, charges.account_id, charges.num, charges.den, charges.usage, charges.request_id,
      charges.client_request_id, charges.model, charges.kind, charges.price_number, charges.upstream, charges.cost,
      charges.beyond_hold, charges.reserve_id, charges.bucket, charges.drawn, charges.amount, charges.max_units,
      charges.begun_at, charges.is_told, charges.key_id, charges.end_user, charges.metadata, charges.endpoint) as i (
      n, id, account_id, num, den, usage, request_id, client_request_id, model, kind, price_number, upstream, cost,
      beyond_hold, reserve_id, bucket, drawn, amount, max_units, begun_at, is_told, key_id, end_user,
      metadata, endpoint)),
  -- Looked up once, not for each item: their rows change with every batch, and have many old versions.
  source as materialized (
    select g.reserve_id, p.id as bucket, p.carry
      from (select reserve_id, account_id, bucket, sum(drawn) as drawn from given group by 1, 2, 3) g
      join reserve r on r.id = g.reserve_id
      join balance_bucket p on p.id = g.bucket and p.account_id = g.account_id
     where p.source = 'cash' and g.drawn <= r.held[array_position(r.allocations, g.bucket)]
       and p.carry * steps between -0.5 and 0.5),
  item as materialized (
    select i.*, s.carry, div(i.num * 1e18, i.den) * 1e-18 as exact
      from given i join source s on s.reserve_id = i.reserve_id and s.bucket = i.bucket
     where i.num >= 0 and i.num <= (i.drawn - step) * i.den
       and not exists (select from hold h where h.id = i.id)
       and not exists (select from receipt b where b.id = i.id)),
  summed as (
    select *, floor((carry + sum(exact) over (partition by account_id order by n)) * steps + 0.5) * step as upto
      from item),
  priced as (
    select *, (upto - lag(upto, 1, 0::numeric) over (partition by account_id order by n))::numeric(32, 12) as taken
      from summed),
  written as (
    insert into receipt (id, account_id, request_id, client_request_id, model, kind, state, scale, amount, units,
                         allocations, held, taken, shortfall, beyond_hold, price, usage, upstream, cost, created_at,
                         resolved_at, batch, key_id, end_user, metadata, endpoint)
    select id, account_id, request_id, client_request_id, model, kind, 'settled', charges.scale, amount, max_units,
           array[bucket], array[drawn], array[taken], 0, beyond_hold, charges.prices[price_number], usage, upstream,
           cost, least(begun_at, at), at, batch_id, key_id, end_user, metadata, endpoint
      from priced),
  spent as (
    insert into key_spend as s
    select key_id, (least(begun_at, at) at time zone 'UTC')::date, sum(taken)
      from priced where key_id is not null group by 1, 2 having sum(taken) > 0
    on conflict (key_id, day) do update set amount = s.amount + excluded.amount),
  totals as (
    select account_id, bucket, sum(taken) as taken, sum(exact) - sum(taken) as carry from priced group by 1, 2),
  taken as (
    update balance_bucket p
       set remaining = p.remaining - t.taken, frozen = p.frozen - t.taken, carry = p.carry + t.carry
      from totals t where p.id = t.bucket),
  booked as (
    insert into transfer (id, unit, debit, credit, amount, account_id, kind, created_at, batch)
    select batch_id || '/' || bucket, 'money', bucket, 'revenue', taken, account_id, 'capture', at, batch_id
      from totals where taken > 0),
  used as (
    select reserve_id, bucket, sum(taken) as amount, sum(case when is_told then drawn else 0 end) as told
      from priced group by 1, 2),
  reserved as (
    update reserve r
       set held = array(
             select case l.bucket when u.bucket then l.held - u.amount else l.held end
               from unnest(r.allocations, r.held) with ordinality as l (bucket, held, slot) order by slot),
           drawn = array(
             select case l.bucket when u.bucket then greatest(0, least(l.drawn - u.told, l.held - u.amount))
                                  else l.drawn end
               from unnest(r.allocations, r.held, r.drawn) with ordinality as l (bucket, held, drawn, slot)
              order by slot)
      from used u where r.id = u.reserve_id)
  select n, id, 'resolved', 'settled', array[bucket], array[drawn], array[taken::numeric], 0::numeric, account_id,
         null::int, null::numeric
    from priced;
end $$;
