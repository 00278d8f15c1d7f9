-- The charges that ledger_charge has left out of its batch, as items of a ledger_run.
-- Locks nothing.
create or replace function ledger_charge_items(charge_groups json, charges charge_row[], p_scale int, batch_id uuid)
returns ledger_item[]
language sql as $$
  select array_agg(row(n, 'charge', id, account_id, num, den, units, usage, p_scale, coalesce(request_id, id),
                       client_request_id, model, kind, price, null, upstream, cost, beyond_hold,
                       reserve_id, array[bucket], array[drawn], drawn, max_units, begun_at, is_told, may_wait,
                       key_id, end_user, metadata, null, endpoint)::ledger_item)
    from unnest(charges) i
    join json_to_recordset(charge_groups) as c (
      g int, account_id text, den numeric, model text, kind text, price jsonb, upstream text, beyond_hold boolean,
      reserve_id text, bucket text, key_id text, endpoint text) using (g)
   where not exists (select from receipt r where r.id = i.id and r.batch = batch_id)
$$;
