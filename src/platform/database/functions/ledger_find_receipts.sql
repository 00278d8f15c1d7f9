-- The receipts of requests, in their final form; of one that is still under way what is held, with state `open`.
-- Ids without either are left out.
-- Locks nothing.
create or replace function ledger_find_receipts(ids text[]) returns setof receipt
language plpgsql stable
set enable_seqscan = off
set enable_nestloop = on -- ledger_run_items has switched it off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  -- Two values instead of an array tell Postgres which partitions it need not look into.
  first text collate "C";
  last  text collate "C";
begin
  return query
  select h.id, h.account_id, h.request_id, h.client_request_id, h.model, h.kind, 'open', h.scale, h.amount, h.units,
         h.allocations, h.held, null::numeric(32, 12)[], null::numeric(32, 12), h.beyond_hold, h.price, null::jsonb,
         h.checkpoint, null, null::numeric(32, 12), h.created_at, null::timestamptz, null, null::uuid,
         h.key_id, h.end_user, h.metadata, h.endpoint
    from hold h where h.id = any (ids);
  select min(id collate "C"), max(id collate "C") into first, last from unnest(ids) id;
  return query
  select r.* from receipt r
   where r.id = any (ids) and r.id between first and last
     and not exists (select from receipt_correction c where c.id = r.id);
  return query select c.* from receipt_correction c where c.id = any (ids);
end $$;
