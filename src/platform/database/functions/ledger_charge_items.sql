-- The charges that ledger_charge has left out of its batch, as items of a ledger_batch.
-- Locks nothing.
create or replace function ledger_charge_items(charges charge_columns, batch_id uuid) returns ledger_item[]
language sql as $$
  select array_agg(row(n, 'charge', id, account_id, num, den, units, usage, charges.scale, request_id,
                       client_request_id, model, kind, charges.prices[price_number], null, upstream, cost, beyond_hold,
                       reserve_id, array[bucket], array[drawn], amount, max_units, begun_at, is_told, may_wait,
                       key_id, end_user, metadata, null, endpoint)::ledger_item)
    from unnest(
      charges.n, charges.id, charges.account_id, charges.num, charges.den, charges.units, charges.usage,
      charges.request_id, charges.client_request_id, charges.model, charges.kind, charges.price_number,
      charges.upstream, charges.cost, charges.beyond_hold, charges.reserve_id, charges.bucket, charges.drawn,
      charges.amount, charges.max_units, charges.begun_at, charges.is_told,
      charges.may_wait, charges.key_id, charges.end_user, charges.metadata, charges.endpoint) as i (
      n, id, account_id, num, den, units, usage, request_id, client_request_id, model, kind, price_number, upstream,
      cost, beyond_hold, reserve_id, bucket, drawn, amount, max_units, begun_at, is_told, may_wait,
      key_id, end_user, metadata, endpoint)
   where not exists (select from receipt r where r.id = i.id and r.batch = batch_id)
$$;
