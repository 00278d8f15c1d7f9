-- ledger_run, as nodes of earlier builds call it, for the time that nodes of both run: charges are JSON, as charge_columns
-- in place of the groups or as rows. To be dropped with the type.
-- Locks what ledger_run locks.
create or replace function ledger_batch(doc json, charge_groups json default null, charges json default null,
                                        ids text[] default null, p_scale int default null)
returns setof ledger_outcome
language sql as $$
  select *
    from ledger_run(
      (select json_agg(item)
         from (select json_array_elements(doc) as item
               union all
               select json_array_elements(to_json(ledger_column_items(charge_groups)))
                where json_typeof(charge_groups) = 'object') items),
      case json_typeof(charge_groups) when 'array' then charge_groups end,
      (select array_agg(row(id, n, g, num, units, usage, cost, drawn, max_units, begun_at, is_told, may_wait, request_id,
                            client_request_id, end_user, metadata)::charge_row)
         from rows from (
           json_to_recordset(charges) as (
             n int, g int, num numeric, units bigint, usage jsonb, cost numeric, drawn numeric, max_units bigint,
             begun_at timestamptz, is_told boolean, may_wait boolean, request_id text, client_request_id text,
             end_user text, metadata jsonb),
           unnest(ids)) as c (
             n, g, num, units, usage, cost, drawn, max_units, begun_at, is_told, may_wait, request_id,
             client_request_id, end_user, metadata, id)),
      p_scale)
$$;
