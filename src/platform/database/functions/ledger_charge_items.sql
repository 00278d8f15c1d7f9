-- The charges that ledger_charge has left out of its batch, as items of a ledger_batch.
-- Locks nothing.
create or replace function ledger_charge_items(charge_groups json, charges json, ids text[], p_scale int, batch_id uuid)
returns ledger_item[]
language sql as $$
  select array_agg(row(n, 'charge', id, account_id, num, den, units, usage, p_scale, coalesce(request_id, id),
                       client_request_id, model, kind, price, null, upstream, cost, beyond_hold,
                       reserve_id, array[bucket], array[drawn], drawn, max_units, begun_at, is_told, may_wait,
                       key_id, end_user, metadata, null, endpoint)::ledger_item)
    from rows from (
      json_to_recordset(charges) as (
        n int, g int, num numeric, units bigint, usage jsonb, cost numeric, drawn numeric, max_units bigint,
        begun_at timestamptz, is_told boolean, may_wait boolean, request_id text, client_request_id text, end_user text,
        metadata jsonb),
      unnest(ids)) as i (
        n, g, num, units, usage, cost, drawn, max_units, begun_at, is_told, may_wait, request_id, client_request_id,
        end_user, metadata, id)
    join json_to_recordset(charge_groups) as c (
      g int, account_id text, den numeric, model text, kind text, price jsonb, upstream text, beyond_hold boolean,
      reserve_id text, bucket text, key_id text, endpoint text) using (g)
   where not exists (select from receipt r where r.id = i.id and r.batch = batch_id)
$$;
