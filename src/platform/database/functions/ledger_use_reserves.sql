-- Takes from reserves what a ledger_batch charged from them, and what it moved from them to holds.
-- The caller has locked the wallets of their accounts.
create or replace function ledger_use_reserves(batch ledger_item[], reservations ledger_reservation[],
                                               resolutions ledger_resolution[], reserve_ids text[])
returns void language sql as $$
  with used as (
    select i.reserve_id, l.bucket, least(l.held, l.taken) as amount, case when i.is_told then l.held else 0 end as told
      from unnest(resolutions) c join unnest(batch) i on i.n = c.n,
           unnest(c.allocations, c.held, c.taken) as l (bucket, held, taken)
     where c.reserve_id is not null
    union all
    select i.reserve_id, l.bucket, l.held, case when i.is_told then l.held else 0 end
      from unnest(reservations) r join unnest(batch) i on i.n = r.n, unnest(r.allocations, r.held) as l (bucket, held)
     where i.reserve_id = any (reserve_ids)),
  sums as (select reserve_id, bucket, sum(amount) as amount, sum(told) as told from used group by 1, 2),
  lines as (
    select r.id, array_agg(l.held - coalesce(s.amount, 0) order by l.slot) as held,
           array_agg(greatest(0, least(l.drawn - coalesce(s.told, 0), l.held - coalesce(s.amount, 0)))
                     order by l.slot) as drawn
      from reserve r cross join unnest(r.allocations, r.held, r.drawn) with ordinality as l (bucket, held, drawn, slot)
      left join sums s on s.reserve_id = r.id and s.bucket = l.bucket
     where r.id = any (reserve_ids)
     group by r.id)
  update reserve r set held = l.held, drawn = l.drawn from lines l where r.id = l.id
$$;
