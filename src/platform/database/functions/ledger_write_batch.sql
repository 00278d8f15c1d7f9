-- Writes what ledger_run_items has decided: new holds, checkpoints (by the hold's id), for each resolved hold its receipt
-- instead of it, receipts of requests that drew from a reserve, and what their keys have spent. Fails if one hold is
-- resolved twice.
-- The caller has locked the wallets of the holds' accounts.
create or replace function ledger_write_batch(batch ledger_item[], reservations ledger_reservation[], checkpoints jsonb,
                                              resolutions ledger_resolution[], at timestamptz, batch_id uuid)
returns void language plpgsql as $$
#variable_conflict use_column
declare
  receipt_count bigint;
begin
  if cardinality(reservations) > 0 then
    insert into hold (id, account_id, request_id, client_request_id, model, kind, scale, amount, units, allocations,
                      held, price, created_at, expires_at, beyond_hold, key_id, end_user, metadata, endpoint)
    select i.id, i.account_id, i.request_id, i.client_request_id, i.model, i.kind, i.scale, r.amount, i.units,
           r.allocations, r.held, i.price, at, at + make_interval(secs => i.ttl_seconds),
           coalesce(i.beyond_hold, false), i.key_id, i.end_user, i.metadata, i.endpoint
      from unnest(reservations) r join unnest(batch) i on i.n = r.n;
  end if;
  if checkpoints <> '{}' then
    update hold set checkpoint = checkpoints -> id where id = any (array(select jsonb_object_keys(checkpoints)));
  end if;
  if cardinality(resolutions) > 0 then
    with gone as (
      delete from hold where id = any (array(select id from unnest(resolutions))) returning *),
    written as (
      insert into receipt (id, account_id, request_id, client_request_id, model, kind, state, scale, amount, units,
                           allocations, held, taken, shortfall, beyond_hold, price, usage, checkpoint, upstream, cost,
                           created_at, resolved_at, ended_by, batch, key_id, end_user, metadata, endpoint)
      select h.id, h.account_id, h.request_id, h.client_request_id, h.model, h.kind, c.state, h.scale, h.amount,
             h.units, c.allocations, c.held, c.taken, c.shortfall, h.beyond_hold, h.price, c.usage, c.checkpoint,
             c.upstream, c.cost, h.created_at, at, c.ended_by, batch_id, h.key_id, h.end_user, h.metadata,
             h.endpoint
        from gone h join unnest(resolutions) c on c.id = h.id
      union all
      select i.id, i.account_id, i.request_id, i.client_request_id, i.model, i.kind, c.state, i.scale, i.amount,
             i.max_units, c.allocations, c.held, c.taken, c.shortfall, i.beyond_hold or not c.is_reserved, i.price,
             c.usage, c.checkpoint, c.upstream, c.cost, least(i.begun_at, at), at, c.ended_by, batch_id, i.key_id,
             i.end_user, i.metadata, i.endpoint
        from unnest(resolutions) c join unnest(batch) i on i.n = c.n
       where c.is_drawn
      returning key_id, created_at, allocations, taken),
    spent as (
      insert into key_spend as s
      select w.key_id, (w.created_at at time zone 'UTC')::date, sum(l.part)
        from written w, unnest(w.allocations, w.taken) as l (bucket, part)
       where w.key_id is not null and l.bucket not like 'quota:%'
       group by 1, 2 having sum(l.part) > 0
      on conflict (key_id, day) do update set amount = s.amount + excluded.amount)
    select count(*) into receipt_count from written;
    if receipt_count <> cardinality(resolutions) then
      raise exception 'One call cannot resolve a hold twice';
    end if;
  end if;
end $$;
