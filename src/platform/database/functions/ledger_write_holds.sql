-- Writes the holds of a ledger_batch: inserts new ones, then updates those that were resolved or got a checkpoint.
-- `is_extended`: some of them were also paid by buckets beyond the hold. Fails if one hold stands twice in
-- `changed_holds`.
-- The caller has locked the wallets of the holds' accounts.
create or replace function ledger_write_holds(batch ledger_item[], reservations ledger_reservation[],
                                              changed_holds hold[], is_extended boolean, at timestamptz)
returns void language plpgsql as $$
#variable_conflict use_column
declare
  changed_count bigint;
begin
  if cardinality(reservations) > 0 then
    insert into hold (id, account_id, request_id, client_request_id, model, kind, state, scale, amount,
                      units, allocations, held, price, created_at, expires_at, beyond_hold)
    select i.id, i.account_id, i.request_id, i.client_request_id, i.model, i.kind, 'open', i.scale,
           r.amount, i.units, r.allocations, r.held, i.price, at, at + make_interval(secs => i.ttl_seconds),
           coalesce(i.beyond_hold, false)
      from unnest(reservations) r join unnest(batch) i on i.n = r.n;
  end if;
  if is_extended then
    -- A statement of its own, because it is seldom needed.
    update hold h set allocations = c.allocations, held = c.held
      from unnest(changed_holds) c
     where c.allocations is not null and h.id = c.id
       and h.id = any (array(select id from unnest(changed_holds)));
  end if;
  if cardinality(changed_holds) > 0 then
    update hold h
       set state = c.state, taken = c.taken, shortfall = c.shortfall, usage = c.usage,
           checkpoint = c.checkpoint, resolved_at = c.resolved_at, upstream = c.upstream, cost = c.cost
      from unnest(changed_holds) c
     where h.id = c.id and h.id = any (array(select id from unnest(changed_holds)));
    get diagnostics changed_count = row_count;
    if changed_count <> cardinality(changed_holds) then
      raise exception 'One call cannot resolve a hold twice';
    end if;
  end if;
end $$;
