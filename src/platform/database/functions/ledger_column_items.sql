-- Charges as nodes of earlier builds send them, as charge_columns, for the time that nodes of both run: as items of a
-- ledger_run. To be dropped with the type.
-- Locks nothing.
create or replace function ledger_column_items(charge_doc json) returns ledger_item[]
language sql as $$
  select array_agg(row(i.n, 'charge', i.id, i.account_id, i.num, i.den, i.units, i.usage, c.scale, i.request_id,
                       i.client_request_id, i.model, i.kind, c.prices[i.price_number], null, i.upstream, i.cost,
                       i.beyond_hold, i.reserve_id, array[i.bucket], array[i.drawn], i.amount, i.max_units, i.begun_at,
                       i.is_told, i.may_wait, i.key_id, i.end_user, i.metadata, null, i.endpoint)::ledger_item)
    from json_populate_record(null::charge_columns, charge_doc) c, unnest(
      c.n, c.id, c.account_id, c.num, c.den, c.units, c.usage, c.request_id, c.client_request_id, c.model, c.kind,
      c.price_number, c.upstream, c.cost, c.beyond_hold, c.reserve_id, c.bucket, c.drawn, c.amount, c.max_units,
      c.begun_at, c.is_told, c.may_wait, c.key_id, c.end_user, c.metadata, c.endpoint) as i (
      n, id, account_id, num, den, units, usage, request_id, client_request_id, model, kind, price_number, upstream,
      cost, beyond_hold, reserve_id, bucket, drawn, amount, max_units, begun_at, is_told, may_wait, key_id, end_user,
      metadata, endpoint)
$$;
