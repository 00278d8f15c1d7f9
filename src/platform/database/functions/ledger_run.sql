-- Executes many ledger items (see ledger_item) in one statement, which shares the round trip and the wait for the
-- disk. An item that cannot be executed fails alone, with its outcome. Repeating a call books nothing twice: the
-- items then have the outcome already. Ids of items within one call must differ.
-- Locks the wallets of all accounts concerned, in the order of their ids, and then rows of those accounts only.
--
-- Charges that may be booked all at once (see ledger_charge) come apart from the other items, with the decimals of the
-- currency. Nearly all calls have nothing else: what other items need is left to ledger_run_items.
create or replace function ledger_run(doc json, charge_groups json default null, charges charge_row[] default null,
                                      p_scale int default null)
returns setof ledger_outcome
language plpgsql
-- For the queries by key here; see ledger_run_items.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
-- A lock that is held for long must not stop the other accounts.
set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  at       timestamptz;
  batch    ledger_item[] := '{}';
  accounts text[];
  charged  bigint;
  batch_id uuid;
begin
  if doc is not null then
    batch := array(
      select row(i.n, i.op, i.id, coalesce(i.account_id, ledger_account_of(i.id)),
                 i.num, i.den, i.units, i.usage, i.scale, i.request_id, i.client_request_id, i.model,
                 i.kind, i.price, i.ttl_seconds, i.upstream, i.cost, i.beyond_hold, i.reserve_id, i.allocations, i.held,
                 i.amount, i.max_units, i.begun_at, i.is_told, i.may_wait, i.key_id, i.end_user,
                 i.metadata, i.shares, i.endpoint)::ledger_item
        from json_populate_recordset(null::ledger_item, doc) i);
  end if;
  if charge_groups is not null then
    accounts := array(select account_id from json_to_recordset(charge_groups) as c (account_id text));
  end if;
  if cardinality(batch) > 0 then
    accounts := accounts || array(select account_id from unnest(batch));
  end if;
  perform ledger_lock_wallets(accounts);
  at := ledger_now();

  if charges is not null then
    batch_id := gen_random_uuid();
    return query select * from ledger_charge(charge_groups, charges, p_scale, at, batch_id);
    get diagnostics charged = row_count;
    if charged < cardinality(charges) then
      batch := batch || ledger_charge_items(charge_groups, charges, p_scale, batch_id);
    end if;
  end if;
  if cardinality(batch) > 0 then
    return query select * from ledger_run_items(batch, at);
  end if;
end $$;
