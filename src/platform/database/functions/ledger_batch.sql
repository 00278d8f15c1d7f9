-- Executes many ledger items (see ledger_item) in one statement, which shares the round trip and the wait for the
-- disk. An item that cannot be executed fails alone, with its outcome. Repeating a call books nothing twice: the
-- items then result already. Ids of items within one call must differ.
-- Locks the wallets of all accounts concerned, in the order of their ids, and then rows of those accounts only.
create or replace function ledger_batch(doc json) returns setof ledger_outcome
language plpgsql
-- The tables grow from nothing to millions of rows between two poll_count at their statistics; what is asked
-- here is always a handful of rows by key.
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
-- A lock that is held for long must not stop the other accounts.
set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  at            timestamptz;
  batch         ledger_item[];
  accounts      text[];
  due           wallet;
  -- The buckets of every account concerned, account by account and in the order of use.
  bucket_account   text[];
  bucket_id        text[];
  bucket_unit      text[];
  bucket_remaining      numeric[];
  bucket_frozen    numeric[];
  bucket_ended      boolean[];
  first         int := 1; -- of the account at hand
  k             int;
  item          record;
  r             ledger_reservation;
  h             hold;
  bucket_carry     numeric[]; -- of cash; 0 elsewhere
  buckets          int[]; -- positions of those that a hold uses
  cash          int; -- position of the account's cash, which is its last
  reserved      numeric; -- money that a hold has
  further       int[] := '{}'; -- positions of buckets that pay beyond the hold
  beyond        numeric[] := '{}'; -- what each of them pays
  is_extended   boolean := false; -- some hold has further allocations
  wanted        numeric;
  covered       bigint; -- units that quota pays for
  owed          numeric; -- money for the others
  due_num       numeric; -- the same as an exact fraction
  due_den       numeric;
  part          numeric;
  t             transfer;
  result        ledger_outcome;
  -- What is written at the end, each kind at once.
  reservations  ledger_reservation[] := '{}';
  changed_holds hold[] := '{}';
  new_transfers transfer[] := '{}';
  changed_count bigint;
begin
  batch := array(
    select row(i.n, i.op, i.id, coalesce(i.account_id, (select account_id from hold where id = i.id)),
               i.num, i.den, i.units, i.usage, i.scale, i.request_id, i.client_request_id, i.model,
               i.kind, i.price, i.ttl_seconds, i.upstream, i.cost, i.beyond_hold)::ledger_item
      from json_populate_recordset(null::ledger_item, doc) i);
  accounts := array(select account_id from unnest(batch));

  for due in
    select * from wallet where account_id = any (accounts) order by account_id for no key update
  loop
    if due.renews_at <= ledger_now() then
      perform ledger_renew_plan(due.account_id, ledger_now());
    end if;
  end loop;
  at := ledger_now();

  select array_agg(account_id), array_agg(id), array_agg(unit), array_agg(remaining), array_agg(frozen),
         array_agg(ended_at is not null or coalesce(ends_at <= at, false)), array_agg(carry)
    into bucket_account, bucket_id, bucket_unit, bucket_remaining, bucket_frozen, bucket_ended, bucket_carry
    from (select * from balance_bucket where account_id = any (accounts) and is_open
           order by account_id, source, ends_at, id) p;

  for item in
    select i.*, h.id as hold_id, h.account_id as hold_account, h.model as hold_model, h.kind as hold_kind,
           h.state, h.scale as hold_scale, h.amount, h.units as hold_units, h.allocations, h.held, h.taken,
           h.shortfall, h.checkpoint, h.expires_at, h.beyond_hold as is_beyond
      from unnest(batch) i
      left join (select * from hold where id = any (array(select id from unnest(batch)))) h on h.id = i.id
     order by i.account_id, i.n
  loop
    result := row(item.n, item.id);
    while bucket_account[first] < item.account_id loop
      first := first + 1;
    end loop;

    if item.op = 'hold' then
      part := ledger_round_up(item.num, item.den, 1, 1, item.scale);
      if item.hold_id is not null then
        result.outcome := case
          when (item.hold_account, item.hold_model, item.hold_kind, item.hold_units, item.amount)
            is not distinct from (item.account_id, item.model, item.kind, item.units, part)
          then 'already' else 'conflict' end;
      elsif bucket_account[first] is distinct from item.account_id then
        result.outcome := 'unknown';
      else
        r := row(item.n, part, '{}', '{}');
        buckets := '{}';
        covered := 0;
        owed := part;
        k := first;
        while owed > 0 and bucket_account[k] = item.account_id loop
          part := 0;
          if not bucket_ended[k] and bucket_unit[k] = 'money' then
            part := least(bucket_remaining[k] - bucket_frozen[k], owed);
            owed := owed - part;
          elsif not bucket_ended[k] and bucket_unit[k] = item.kind and item.units > 0 then
            part := least(bucket_remaining[k] - bucket_frozen[k], item.units - covered);
            covered := covered + part;
            owed := ledger_round_up(item.num, item.den, item.units - covered, item.units, item.scale);
          end if;
          if part > 0 then
            buckets := buckets || k;
            r.allocations := r.allocations || bucket_id[k];
            r.held := r.held || part;
          end if;
          k := k + 1;
        end loop;

        if owed > 0 then
          result.outcome := 'insufficient';
        else
          for slot in 1 .. cardinality(buckets) loop
            bucket_frozen[buckets[slot]] := bucket_frozen[buckets[slot]] + r.held[slot];
          end loop;
          reservations := reservations || r;
          result.outcome := 'held';
          result.state := 'open';
        end if;
      end if;

    elsif item.hold_id is null or item.hold_account <> item.account_id then
      result.outcome := 'unknown';
    elsif item.state <> 'open' then
      result.outcome := 'already';
    elsif item.op = 'expire' and item.expires_at > at then
      result.outcome := 'open';
    elsif item.op = 'checkpoint' then
      -- A checkpoint that cannot be settled would stop the sweeper: it must fail here.
      owed := ledger_round_half_up(item.num, item.den, 1, 1, item.hold_scale)::numeric(32, 12);
      h := null;
      h.id := item.id;
      h.state := 'open';
      h.checkpoint := jsonb_build_object('num', item.num::text, 'den', item.den::text,
                                    'units', item.units, 'usage', item.usage,
                                    'upstream', item.upstream, 'cost', item.cost::text);
      changed_holds := changed_holds || h;
      result.outcome := 'checkpointed';

    else
      if item.op = 'expire' and item.checkpoint is not null then
        item.op := 'settle';
        item.num := item.checkpoint ->> 'num';
        item.den := item.checkpoint ->> 'den';
        item.units := item.checkpoint ->> 'units';
        item.usage := item.checkpoint -> 'usage';
        item.upstream := item.checkpoint ->> 'upstream';
        item.cost := item.checkpoint ->> 'cost';
      end if;
      h := null;
      h.id := item.id;
      h.state := case item.op when 'settle' then 'settled' when 'release' then 'released' else 'expired' end;
      h.taken := '{}';
      h.usage := item.usage;
      h.upstream := item.upstream;
      h.cost := item.cost;
      h.checkpoint := item.checkpoint;
      h.resolved_at := at;
      t.account_id := item.account_id;
      t.hold_id := item.id;
      t.created_at := at;
      owed := 0;
      covered := 0;
      if item.op = 'settle' and item.num > 0 then
        cash := first;
        while bucket_account[cash + 1] = item.account_id loop
          cash := cash + 1;
        end loop;
        due_num := item.num;
        due_den := item.den;
        reserved := item.held[1];
        if item.allocations[1] is distinct from bucket_id[cash] or item.num > reserved * item.den then
          -- Seldom: quota or gifts pay too, or the hold is not enough.
          reserved := 0;
          for slot in 1 .. cardinality(item.allocations) loop
            if item.allocations[slot] like 'quota:%' then
              covered := covered + least(item.held[slot], item.units - covered)::bigint;
            else
              reserved := reserved + item.held[slot];
            end if;
          end loop;
          if item.units > 0 then
            due_num := item.num * (item.units - covered);
            due_den := item.den * item.units;
          end if;
          if item.is_beyond and item.units > 0 and due_num > reserved * due_den then
            -- As many units of quota as bring the rest down to the money that is held.
            wanted := item.units - covered - div(reserved * due_den, item.num);
            k := first;
            while wanted > 0 and bucket_unit[k] <> 'money' loop
              part := least(bucket_remaining[k] - bucket_frozen[k], wanted);
              if bucket_unit[k] = item.hold_kind and not bucket_ended[k] and part > 0 then
                further := further || k;
                beyond := beyond || part;
                wanted := wanted - part;
                due_num := due_num - item.num * part;
              end if;
              k := k + 1;
            end loop;
          end if;
        end if;

        if due_num > 0 then
          owed := ledger_round_half_up(due_num + bucket_carry[cash] * due_den, due_den, 1, 1, item.hold_scale);
          if owed > reserved then
            -- What rounding held back takes nothing beyond the hold: it waits for the next charge.
            owed := least(owed, greatest(reserved,
              ledger_round_half_up(due_num, due_den, 1, 1, item.hold_scale)));
          elsif owed < 0 then
            owed := 0;
          end if;
          if due_num <> owed * due_den then
            bucket_carry[cash] := bucket_carry[cash] + div((due_num - owed * due_den) * 1e18, due_den) * 1e-18;
          end if;
        end if;

        if item.is_beyond and owed > reserved then
          wanted := owed - reserved;
          k := first;
          while wanted > 0 and k <= cash loop
            part := least(bucket_remaining[k] - bucket_frozen[k], wanted);
            if bucket_unit[k] = 'money' and not bucket_ended[k] and part > 0 then
              further := further || k;
              beyond := beyond || part;
              wanted := wanted - part;
            end if;
            k := k + 1;
          end loop;
        end if;
      elsif item.num < 0 then
        owed := item.num; -- the table refuses it
      end if;

      for slot in 1 .. cardinality(item.allocations) loop
        k := first;
        while bucket_id[k] <> item.allocations[slot] loop
          k := k + 1;
        end loop;
        if bucket_id[k] is null then
          raise exception 'Hold % reserves %, which is gone', item.id, item.allocations[slot];
        end if;
        t.unit := bucket_unit[k];
        t.debit := bucket_id[k];
        if bucket_unit[k] = 'money' then
          part := least(item.held[slot], owed);
          owed := owed - part;
        else
          part := least(item.held[slot], covered);
          covered := covered - part::bigint;
        end if;
        h.taken := h.taken || part;
        bucket_frozen[k] := bucket_frozen[k] - item.held[slot];
        bucket_remaining[k] := bucket_remaining[k] - part;
        if part > 0 then
          t.id := item.id || '/' || slot;
          t.credit := case t.unit when 'money' then 'revenue' else 'quota_used' end;
          t.amount := part;
          t.kind := 'capture';
          new_transfers := new_transfers || t;
        end if;
        if bucket_ended[k] and item.held[slot] > part then
          part := item.held[slot] - part;
          bucket_remaining[k] := bucket_remaining[k] - part;
          t.id := item.id || '/' || slot || '/expired';
          t.credit := case t.unit when 'money' then 'breakage' else 'quota_breakage' end;
          t.amount := part;
          t.kind := 'breakage';
          new_transfers := new_transfers || t;
        end if;
      end loop;
      if cardinality(further) > 0 then
        for n in 1 .. cardinality(further) loop
          k := further[n];
          item.allocations := item.allocations || bucket_id[k];
          item.held := item.held || 0::numeric;
          h.taken := h.taken || beyond[n];
          bucket_remaining[k] := bucket_remaining[k] - beyond[n];
          if bucket_unit[k] = 'money' then
            owed := owed - beyond[n];
          end if;
          t.id := item.id || '/' || cardinality(item.allocations);
          t.unit := bucket_unit[k];
          t.debit := bucket_id[k];
          t.credit := case t.unit when 'money' then 'revenue' else 'quota_used' end;
          t.amount := beyond[n];
          t.kind := 'capture';
          new_transfers := new_transfers || t;
        end loop;
        h.allocations := item.allocations;
        h.held := item.held;
        is_extended := true;
        further := '{}';
        beyond := '{}';
      end if;
      h.shortfall := owed;
      if owed > 0 then
        t.id := item.id || '/shortfall';
        t.unit := 'money';
        t.debit := 'shortfall';
        t.credit := 'revenue';
        t.amount := owed;
        t.kind := 'shortfall';
        new_transfers := new_transfers || t;
      end if;
      changed_holds := changed_holds || h;
      result := row(item.n, item.id, 'resolved', h.state, item.allocations, item.held, h.taken, h.shortfall,
                    item.account_id);
    end if;

    if result.outcome = 'already' then
      result := row(item.n, item.id, 'already', item.state, item.allocations, item.held, item.taken, item.shortfall,
                    item.account_id);
    end if;
    return next result;
  end loop;

  update balance_bucket p set remaining = c.remaining, frozen = c.frozen, carry = c.carry
    from unnest(bucket_id, bucket_remaining, bucket_frozen, bucket_carry) c (id, remaining, frozen, carry)
   where p.id = c.id and p.id = any (bucket_id)
     and (p.remaining, p.frozen, p.carry) is distinct from (c.remaining, c.frozen, c.carry);
  if cardinality(reservations) > 0 then
    insert into hold (id, account_id, request_id, client_request_id, model, kind, state, scale, amount,
                      units, allocations, held, price, created_at, expires_at, beyond_hold)
    select i.id, i.account_id, i.request_id, i.client_request_id, i.model, i.kind, 'open', i.scale,
           r.amount, i.units, r.allocations, r.held, i.price, at, at + make_interval(secs => i.ttl_seconds),
           coalesce(i.beyond_hold, false)
      from unnest(reservations) r join unnest(batch) i on i.n = r.n;
  end if;
  if is_extended then
    -- Apart from the next, which nearly always is enough.
    update hold h set allocations = c.allocations, held = c.held
      from unnest(changed_holds) c
     where c.allocations is not null and h.id = c.id and h.id = any (array(select id from unnest(changed_holds)));
  end if;
  if cardinality(changed_holds) > 0 then
    update hold h
       set state = c.state, taken = c.taken, shortfall = c.shortfall, usage = c.usage, checkpoint = c.checkpoint,
           resolved_at = c.resolved_at, upstream = c.upstream, cost = c.cost
      from unnest(changed_holds) c
     where h.id = c.id and h.id = any (array(select id from unnest(changed_holds)));
    get diagnostics changed_count = row_count;
    if changed_count <> cardinality(changed_holds) then
      raise exception 'One call cannot resolve a hold twice';
    end if;
  end if;
  if cardinality(new_transfers) > 0 then
    insert into transfer select * from unnest(new_transfers);
  end if;
end $$;
