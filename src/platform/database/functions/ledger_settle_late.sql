-- Settles a hold that a sweeper has resolved, as if the sweeper had not: computes the settlement anew with what the
-- sweeper took returned, books the difference, and writes a receipt that replaces the sweeper's. What the account has
-- spent meanwhile is a shortfall. Repeating it changes nothing. With `may_wait_late`, and if what is only reserved could
-- pay the rest, that is recalled and nothing is booked: insufficient, with retry_ms.
-- An item with the op `void` takes a settlement back whose request was answered with an error, because nothing was known
-- of its settlement: its receipt is replaced by one that costs nothing. It has the amounts of that settlement.
-- Locks the account's wallet, then like usage_remove.
create or replace function ledger_settle_late(doc json) returns setof ledger_outcome
language plpgsql
set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  item       ledger_item := json_populate_record(null::ledger_item, doc);
  at         timestamptz;
  h          receipt;
  batch_id   uuid := gen_random_uuid();
  is_void    boolean;
  -- The account's balance buckets in the order of use.
  bucket_id     text[];
  bucket_unit   text[];
  bucket_ended   boolean[];
  bucket_usable    numeric[]; -- what the settlement may take: free, or taken for this hold before
  extra      numeric[]; -- what it takes beyond the hold's own allocations
  change     numeric[]; -- of what remains
  new_carry  numeric;
  cash       int; -- position of the account's cash, which is the last
  new_taken  numeric[];
  reserved   numeric := 0;
  covered    bigint := 0;
  due_num    numeric;
  due_den    numeric;
  owed       numeric;
  paid       numeric := 0;
  wanted     numeric;
  part       numeric;
  k          int;
  found_slot       int;
  t          transfer;
  unpaid     numeric;
  spent      numeric := 0; -- more than the sweeper took, in money
  result     ledger_outcome;
begin
  select * into h from ledger_find_receipts(array[item.id]);
  if h.id is null or h.account_id <> coalesce(item.account_id, h.account_id) then
    result := row(item.n, item.id, 'unknown');
    return next result;
    return;
  end if;
  perform ledger_lock_wallets(array[h.account_id]);
  select * into h from ledger_find_receipts(array[item.id]); -- as it is under the lock
  is_void := item.op = 'void';
  if is_void and (h.state <> 'settled' or h.ended_by is not null)
    or not is_void and h.ended_by is distinct from 'sweeper' then
    result := row(item.n, h.id, 'already', h.state, h.allocations, h.held, h.taken, h.shortfall, h.account_id);
    return next result;
    return;
  end if;
  at := ledger_now();
  if is_void then
    h.checkpoint := jsonb_build_object('num', item.num, 'den', item.den, 'units', item.units);
    item.num := 0;
    item.usage := null;
    item.upstream := null;
    item.cost := null;
  end if;

  select array_agg(id), array_agg(unit), array_agg(is_over),
         array_agg(case when is_over then back else remaining - frozen + back end),
         array_agg(0::numeric), array_agg(0::numeric), (array_agg(carry) filter (where source = 'cash'))[1]
    into bucket_id, bucket_unit, bucket_ended, bucket_usable, extra, change, new_carry
    from (select p.*, coalesce(b.back, 0) as back,
                 p.ended_at is not null or coalesce(p.ends_at <= at, false)
                   -- The end of a quota of which nothing was left is not written down.
                   or p.source = 'quota' and p.id not like (
                     select '%:' || number || '.' || month from plan_term
                      where account_id = h.account_id and ended_at is null) as is_over
            from balance_bucket p
            left join (select bucket, sum(taken) as back from unnest(h.allocations, h.taken) as l (bucket, taken)
                        group by bucket) b on b.bucket = p.id
           where p.account_id = h.account_id and (p.is_open or b.bucket is not null)
           order by p.source, p.ends_at, p.id) p;
  cash := cardinality(bucket_id);
  new_taken := array_fill(0::numeric, array[cardinality(h.allocations)]);

  -- Undo what the earlier settlement left to the account's next charge.
  for slot in 1 .. cardinality(h.allocations) loop
    if h.allocations[slot] like 'quota:%' then
      covered := covered + h.taken[slot]::bigint;
    else
      reserved := reserved + h.held[slot];
      paid := paid + h.taken[slot];
    end if;
  end loop;
  if h.state = 'settled' and (h.checkpoint ->> 'num')::numeric > 0 then
    due_num := (h.checkpoint ->> 'num')::numeric;
    due_den := (h.checkpoint ->> 'den')::numeric;
    if (h.checkpoint ->> 'units')::bigint > 0 then
      due_num := due_num * ((h.checkpoint ->> 'units')::bigint - covered);
      due_den := due_den * (h.checkpoint ->> 'units')::bigint;
    end if;
    if due_num > 0 then
      new_carry := new_carry - ledger_carry(due_num, due_den, paid + h.shortfall);
    end if;
  end if;
  covered := 0;
  paid := 0;
  owed := 0;

  if item.num > 0 then
    due_num := item.num;
    due_den := item.den;
    if item.units > 0 then
      for slot in 1 .. cardinality(h.allocations) loop
        if h.allocations[slot] like 'quota:%' and h.held[slot] > 0 then
          k := array_position(bucket_id, h.allocations[slot]);
          part := least(h.held[slot], bucket_usable[k], item.units - covered);
          new_taken[slot] := part;
          bucket_usable[k] := bucket_usable[k] - part;
          covered := covered + part::bigint;
        end if;
      end loop;
      due_num := item.num * (item.units - covered);
      due_den := item.den * item.units;
      if h.beyond_hold and due_num > reserved * due_den then
        -- As many units of quota as bring the rest down to the money that was held.
        wanted := item.units - covered - div(reserved * due_den, item.num);
        for k in 1 .. cash loop
          if bucket_unit[k] = h.kind and not bucket_ended[k] and bucket_usable[k] > 0 and wanted > 0 then
            part := least(bucket_usable[k], wanted);
            extra[k] := part;
            bucket_usable[k] := bucket_usable[k] - part;
            wanted := wanted - part;
            due_num := due_num - item.num * part;
          end if;
        end loop;
      end if;
    end if;
    if due_num > 0 then
      owed := ledger_owed(due_num, due_den, new_carry, reserved, h.scale);
      new_carry := new_carry + ledger_carry(due_num, due_den, owed);
    end if;
    for slot in 1 .. cardinality(h.allocations) loop
      if h.allocations[slot] not like 'quota:%' and h.held[slot] > 0 then
        k := array_position(bucket_id, h.allocations[slot]);
        part := least(h.held[slot], bucket_usable[k], owed - paid);
        new_taken[slot] := part;
        bucket_usable[k] := bucket_usable[k] - part;
        paid := paid + part;
      end if;
    end loop;
    -- Others may have spent what the hold had reserved: the rest of the balance pays, at most as much.
    wanted := case when h.beyond_hold then owed else least(owed, reserved) end - paid;
    for k in 1 .. cash loop
      if bucket_unit[k] = 'money' and not bucket_ended[k] and bucket_usable[k] > 0 and wanted > 0 then
        part := least(bucket_usable[k], wanted);
        extra[k] := extra[k] + part;
        wanted := wanted - part;
        paid := paid + part;
      end if;
    end loop;
  end if;
  unpaid := owed - paid;
  -- Not the item's own may_wait: nodes of earlier builds send that too, and know no such answer.
  if (doc ->> 'may_wait_late')::boolean and wanted > 0 then
    result := row(item.n, h.id, 'insufficient');
    result.retry_ms := ledger_recall_unpaid(h.account_id, at, h.kind, item.num, item.den, item.units, h.scale, wanted);
    if result.retry_ms is not null then
      return next result;
      return;
    end if;
  end if;

  for k in 1 .. cash loop
    if extra[k] > 0 then
      found_slot := null;
      for slot in 1 .. cardinality(h.allocations) loop
        if h.allocations[slot] = bucket_id[k] and h.held[slot] = 0 then found_slot := slot; end if;
      end loop;
      if found_slot is null then
        found_slot := cardinality(h.allocations) + 1;
        h.allocations[found_slot] := bucket_id[k];
        h.held[found_slot] := 0;
        h.taken[found_slot] := 0;
      end if;
      new_taken[found_slot] := extra[k];
    end if;
  end loop;

  t.account_id := h.account_id;
  t.hold_id := h.id;
  t.created_at := at;
  t.batch := batch_id;
  for slot in 1 .. cardinality(h.allocations) loop
    part := new_taken[slot] - h.taken[slot];
    continue when part = 0;
    k := array_position(bucket_id, h.allocations[slot]);
    change[k] := change[k] - part;
    if bucket_unit[k] = 'money' then spent := spent + part; end if;
    t.id := h.id || '/' || slot || '/late';
    t.unit := bucket_unit[k];
    t.kind := 'capture';
    t.amount := abs(part);
    t.debit := case when part > 0 then bucket_id[k] when t.unit = 'money' then 'revenue' else 'quota_used' end;
    t.credit := case when part < 0 then bucket_id[k] when t.unit = 'money' then 'revenue' else 'quota_used' end;
    insert into transfer select t.*;
    if part < 0 and bucket_ended[k] then
      change[k] := change[k] + part;
      t.id := t.id || '/expired';
      t.debit := bucket_id[k];
      t.credit := case t.unit when 'money' then 'breakage' else 'quota_breakage' end;
      t.kind := 'breakage';
      insert into transfer select t.*;
    end if;
  end loop;
  part := unpaid - h.shortfall;
  if part <> 0 then
    t.id := h.id || '/shortfall/late';
    t.unit := 'money';
    t.kind := 'shortfall';
    t.amount := abs(part);
    t.debit := case when part > 0 then 'shortfall' else 'revenue' end;
    t.credit := case when part > 0 then 'revenue' else 'shortfall' end;
    insert into transfer select t.*;
  end if;
  update balance_bucket p set remaining = p.remaining + c.change
    from unnest(bucket_id, change) c (id, change) where p.id = c.id and c.change <> 0;
  update balance_bucket p set carry = new_carry
   where p.id = bucket_id[cash] and p.carry <> new_carry;

  if h.key_id is not null and spent <> 0 then
    insert into key_spend as s values (h.key_id, (h.created_at at time zone 'UTC')::date, spent)
    on conflict (key_id, day) do update set amount = s.amount + excluded.amount;
  end if;

  perform usage_remove(h);
  -- Its node was paused and not dead: it writes the row itself.
  delete from request
   where created_at = request_begun_at(h.request_id) and id = h.request_id and error_code = 'gateway_stopped';

  -- Allocations beyond the hold that are not needed any more.
  select array_agg(bucket order by n), array_agg(held order by n), array_agg(taken order by n)
    into h.allocations, h.held, h.taken
    from unnest(h.allocations, h.held, new_taken) with ordinality as l (bucket, held, taken, n)
   where held > 0 or taken > 0;
  h.allocations := coalesce(h.allocations, '{}');
  h.held := coalesce(h.held, '{}');
  h.taken := coalesce(h.taken, '{}');
  h.state := case when is_void then 'released' else 'settled' end;
  h.shortfall := unpaid;
  h.usage := item.usage;
  h.upstream := item.upstream;
  h.cost := item.cost;
  h.checkpoint := null;
  h.resolved_at := at;
  h.ended_by := 'late';
  h.batch := batch_id;
  insert into receipt_correction select h.*;
  result := row(item.n, h.id, 'resolved', h.state, h.allocations, h.held, h.taken, unpaid, h.account_id);
  return next result;
end $$;
