-- Executes items of a ledger_run one by one, and writes what they come to at the end, each kind of row at once.
-- What one call takes from a balance bucket is one transfer; each receipt says its part of it, and names the batch.
-- The caller has locked the wallets of all accounts concerned.
--
-- Reserving for a hold and resolving one are written out here and not functions: a call per item would cost more than
-- a twentieth of the item. What runs once per call, or seldom, has its own function.
--
-- A hold of a key with a budget must fit into what is left of that: over_budget, with budget_left. What was drawn from a
-- reserve, before the key had a budget, counts and is not refused.
create or replace function ledger_run_items(batch ledger_item[], at timestamptz) returns setof ledger_outcome
language plpgsql
-- The tables grow from nothing to millions of rows between two updates of their statistics; the queries
-- here always read a handful of rows by key.
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  -- The buckets of all accounts concerned, account by account and in the order of use.
  bucket_account   text[];
  bucket_id        text[];
  bucket_unit      text[];
  bucket_remaining numeric[];
  bucket_frozen    numeric[];
  bucket_ended     boolean[];
  bucket_carry     numeric[]; -- of cash; 0 elsewhere
  bucket_captured  numeric[]; -- what this call takes
  first            int := 1; -- position of the account's first bucket
  cash             int; -- position of the account's cash, which is its last
  k                int;
  item             record;
  r                ledger_reservation;
  h                hold;
  c                ledger_resolution;
  open_holds       hold[];
  resolved         receipt[] := '{}'; -- of items that concern no open hold
  -- Reserves of the items that are not gone, bucket by bucket.
  line_reserve     text[];
  line_bucket      text[];
  line_held        numeric[];
  line_drawn       numeric[];
  lines            int[]; -- positions of what the item has drawn
  is_reserved      boolean; -- the reserve has what the item has drawn
  is_drawn         boolean; -- the item charges what was drawn from a reserve
  buckets          int[]; -- positions of the buckets that a hold uses
  own              int; -- allocations that the hold has
  mixed            record;
  beyond           numeric[]; -- what allocations after those take beyond the hold
  shared           record;
  quota_taken      numeric[]; -- what each allocation pays of shares; 0 for money
  covered          bigint; -- units that quota pays for
  owed             numeric; -- money for the other units
  paid             numeric; -- money for them that a hold has found
  part             numeric;
  result           ledger_outcome;
  -- Written at the end, each kind at once.
  reservations     ledger_reservation[] := '{}';
  resolutions      ledger_resolution[] := '{}';
  checkpoints      jsonb := '{}'; -- by the hold's id
  new_transfers    transfer[] := '{}'; -- without the captures
  batch_id         uuid := gen_random_uuid();
  -- Keys of the holds to come that have a budget.
  budget_key       text[];
  budget_since     timestamptz[];
  budget_left      numeric[];
  b                int; -- position of the item's key; null: it has no budget
  ids              text[];
  -- The first and the last, as in ledger_charge.
  first_id         text collate "C";
  last_id          text collate "C";
  has_keys         boolean; -- of holds to come
  has_reserves     boolean;
  has_captures     boolean := false;
  freed            numeric; -- money that the item held and does not take
begin
  select array_agg(id), min(id collate "C"), max(id collate "C"), bool_or(op = 'hold' and key_id is not null),
         bool_or(reserve_id is not null)
    into ids, first_id, last_id, has_keys, has_reserves
    from unnest(batch);
  if has_keys then
    select array_agg(k.id), array_agg(coalesce(s.since, '-infinity')),
           array_agg(k.budget_amount - s.spent - s.held)
      into budget_key, budget_since, budget_left
      from api_key k, key_spending(k.id, k.account_id, k.budget_period, at) s
     where k.id = any (array(select key_id from unnest(batch) where op = 'hold')) and k.budget_amount is not null;
  end if;

  open_holds := array(select h from hold h where id = any (ids));
  if cardinality(open_holds) < cardinality(batch)
    and (select id from receipt where id = any (ids) and id between first_id and last_id order by id limit 1)
      is not null then
    resolved := array(
      select r from ledger_find_receipts(array(select unnest(ids) except select id from unnest(open_holds))) r);
  end if;

  if has_reserves then
    select array_agg(r.id order by r.id, l.slot), array_agg(l.bucket order by r.id, l.slot),
           array_agg(l.held order by r.id, l.slot), array_agg(l.drawn order by r.id, l.slot)
      into line_reserve, line_bucket, line_held, line_drawn
      from reserve r, unnest(r.allocations, r.held, r.drawn) with ordinality as l (bucket, held, drawn, slot)
     where r.id = any (array(select reserve_id from unnest(batch)));
  end if;

  select array_agg(account_id), array_agg(id), array_agg(unit), array_agg(remaining), array_agg(frozen),
         array_agg(ended_at is not null or coalesce(ends_at <= at, false)), array_agg(carry), array_agg(0::numeric)
    into bucket_account, bucket_id, bucket_unit, bucket_remaining, bucket_frozen, bucket_ended, bucket_carry,
         bucket_captured
    from (select * from balance_bucket where account_id = any (array(select account_id from unnest(batch))) and is_open
           order by account_id, source, ends_at, id) p;

  for item in
    select i.*, h.id as hold_id, h.account_id as hold_account, h.model as hold_model, h.kind as hold_kind,
           h.state, h.scale as hold_scale, h.amount as hold_amount, h.units as hold_units,
           h.allocations as hold_allocations, h.held as hold_held, h.taken, h.shortfall,
           h.checkpoint, h.expires_at, h.beyond_hold as is_beyond, h.key_id as hold_key, h.created_at as held_at
      from unnest(batch) i
      left join (
        select id, account_id, model, kind, 'open' as state, scale, amount, units, allocations, held,
               null::numeric[] as taken, null::numeric as shortfall, checkpoint, expires_at, beyond_hold, key_id,
               created_at
          from unnest(open_holds)
        union all
        select id, account_id, model, kind, state, scale, amount, units, allocations, held, taken, shortfall,
               checkpoint, null, beyond_hold, key_id, created_at
          from unnest(resolved)) h on h.id = i.id
     order by i.account_id, i.n
  loop
    result := row(item.n, item.id);
    while bucket_account[first] < item.account_id loop
      first := first + 1;
    end loop;

    is_reserved := item.reserve_id is not null;
    if is_reserved then
      lines := '{}';
      for slot in 1 .. cardinality(item.allocations) loop
        k := 1;
        while line_reserve[k] <> item.reserve_id or line_bucket[k] <> item.allocations[slot] loop
          k := k + 1;
        end loop;
        lines := lines || k;
        is_reserved := is_reserved and coalesce(line_held[k] >= item.held[slot], false);
      end loop;
    end if;

    is_drawn := false;
    if item.op = 'charge' then
      -- One of an archived month is unknown: it may have been booked before. No month is archived before it is a month
      -- old, which spares the others the look. The receipts were looked for first: none is archived since.
      if item.hold_id is null and bucket_account[first] = item.account_id
        and (ledger_time_of(item.id) >= at - interval '1 month' or not ledger_is_archived(item.id)) then
        is_drawn := true;
        item.hold_id := item.id;
        item.hold_account := item.account_id;
        item.hold_kind := item.kind;
        item.hold_scale := item.scale;
        item.hold_key := item.key_id;
        item.held_at := least(item.begun_at, at);
        item.state := 'open';
        item.is_beyond := item.beyond_hold;
        item.hold_allocations := item.allocations;
        item.hold_held := item.held;
        if not is_reserved then
          -- The lease has ended, or what was drawn was returned without it: the free balance pays, as far as it goes.
          item.is_beyond := true;
          item.hold_allocations := '{}';
          item.hold_held := '{}';
        end if;
      end if;
      item.op := case when item.num is null then 'release' else 'settle' end;
    end if;

    if item.op = 'hold' then
      part := ledger_round_up(item.num, item.den, 1, 1, item.scale);
      if item.hold_id is not null then
        result.outcome := case
          when (item.hold_account, item.hold_model, item.hold_kind, item.hold_units, item.hold_amount)
            is not distinct from (item.account_id, item.model, item.kind, item.units, part)
          then 'already' else 'conflict' end;
      elsif bucket_account[first] is distinct from item.account_id then
        result.outcome := 'unknown';
      elsif is_reserved then
        -- What was drawn gets a hold of its own; it stays frozen.
        r := row(item.n, part, item.allocations, item.held);
        b := array_position(budget_key, item.key_id);
        for slot in 1 .. cardinality(lines) loop
          if b is not null and item.allocations[slot] not like 'quota:%' then
            budget_left[b] := budget_left[b] - item.held[slot];
          end if;
          line_held[lines[slot]] := line_held[lines[slot]] - item.held[slot];
          if item.is_told then
            line_drawn[lines[slot]] := line_drawn[lines[slot]] - item.held[slot];
          end if;
        end loop;
        reservations := reservations || r;
        result.outcome := 'held';
        result.state := 'open';
      else
        r := row(item.n, part, '{}', '{}');
        buckets := '{}';
        covered := 0;
        paid := 0;
        owed := part;
        k := first;
        while owed > 0 and bucket_account[k] = item.account_id loop
          part := 0;
          if not bucket_ended[k] and bucket_unit[k] = 'money' then
            part := least(bucket_remaining[k] - bucket_frozen[k], owed);
            owed := owed - part;
            paid := paid + part;
          elsif not bucket_ended[k] and bucket_unit[k] = item.kind and item.units > 0 then
            part := least(bucket_remaining[k] - bucket_frozen[k], item.units - covered);
            covered := covered + part;
            owed := ledger_round_up(item.num, item.den, item.units - covered, item.units, item.scale);
          elsif not bucket_ended[k] and item.shares is not null then
            select * into shared
              from ledger_cover(item.shares, bucket_unit[k], bucket_remaining[k] - bucket_frozen[k]);
            part := shared.part;
            item.shares := shared.shares;
            select * into shared from ledger_uncovered(item.num, item.den, item.shares);
            owed := ledger_round_up(shared.num, shared.den, 1, 1, item.scale);
          end if;
          if part > 0 then
            buckets := buckets || k;
            r.allocations := r.allocations || bucket_id[k];
            r.held := r.held || part;
          end if;
          k := k + 1;
        end loop;

        b := array_position(budget_key, item.key_id);
        if owed > 0 then
          result.outcome := 'insufficient';
          result.retry_ms := ledger_recall_for(item.account_id, at, item.kind, item.num, item.den, item.units,
                                               item.scale, covered, paid, item.shares);
        elsif paid > 0 and paid > budget_left[b] then
          result.outcome := 'over_budget';
          result.budget_left := greatest(0, budget_left[b]);
        else
          if b is not null then
            budget_left[b] := budget_left[b] - paid;
          end if;
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
      checkpoints := checkpoints || jsonb_build_object(item.id, jsonb_build_object(
        'num', item.num::text, 'den', item.den::text, 'units', item.units, 'usage', item.usage,
        'upstream', item.upstream, 'cost', item.cost::text));
      result.outcome := 'checkpointed';

    else
      c := null;
      if item.op = 'expire' then
        c.ended_by := 'sweeper';
        c.checkpoint := item.checkpoint;
      end if;
      if item.op = 'expire' and item.checkpoint is not null then
        item.op := 'settle';
        item.num := item.checkpoint ->> 'num';
        item.den := item.checkpoint ->> 'den';
        item.units := item.checkpoint ->> 'units';
        item.usage := item.checkpoint -> 'usage';
        item.upstream := item.checkpoint ->> 'upstream';
        item.cost := item.checkpoint ->> 'cost';
      end if;
      c.id := item.id;
      c.n := item.n;
      c.is_drawn := is_drawn;
      c.is_reserved := is_drawn and is_reserved;
      c.state := case item.op when 'settle' then 'settled' when 'release' then 'released' else 'expired' end;
      c.taken := '{}';
      c.usage := item.usage;
      c.upstream := item.upstream;
      c.cost := item.cost;
      own := cardinality(item.hold_allocations);
      owed := 0;
      covered := 0;
      quota_taken := '{}';
      if item.op = 'settle' and item.num > 0 then
        cash := first;
        while bucket_account[cash + 1] = item.account_id loop
          cash := cash + 1;
        end loop;
        if item.hold_allocations[1] = bucket_id[cash] and item.num <= item.hold_held[1] * item.den then
          -- The usual case: cash alone pays, and the hold is enough. The same as ledger_owed, with less to compute.
          owed := greatest(0, least(item.hold_held[1], ledger_round_half_up(
            item.num + bucket_carry[cash] * item.den, item.den, 1, 1, item.hold_scale)));
          if item.num <> owed * item.den then
            bucket_carry[cash] := bucket_carry[cash] + ledger_carry(item.num, item.den, owed);
          end if;
        else
          h := null;
          h.kind := item.hold_kind;
          h.scale := item.hold_scale;
          h.allocations := item.hold_allocations;
          h.held := item.hold_held;
          h.beyond_hold := item.is_beyond;
          select * into mixed
            from ledger_settle_mixed(item.num, item.den, item.units, h, first, cash, bucket_id, bucket_unit,
                                     bucket_remaining, bucket_frozen, bucket_ended, bucket_carry[cash], item.shares);
          if item.may_wait and mixed.unpaid > 0 then
            result.retry_ms := ledger_recall_unpaid(item.account_id, at, item.hold_kind, item.num, item.den, item.units,
                                                    item.hold_scale, mixed.unpaid);
            if result.retry_ms is not null then
              result.outcome := 'insufficient';
              return next result;
              continue;
            end if;
          end if;
          owed := mixed.owed;
          covered := mixed.covered;
          beyond := mixed.beyond;
          quota_taken := mixed.quota_taken;
          bucket_carry[cash] := mixed.carry;
          item.hold_allocations := mixed.allocations;
          item.hold_held := mixed.held;
        end if;
      elsif item.num < 0 then
        owed := item.num; -- the constraint of the table rejects it
      end if;

      freed := 0;
      for slot in 1 .. cardinality(item.hold_allocations) loop
        k := first;
        while bucket_id[k] <> item.hold_allocations[slot] loop
          k := k + 1;
        end loop;
        if bucket_id[k] is null then
          raise exception 'Hold % reserves %, which is gone', item.id, item.hold_allocations[slot];
        end if;
        if slot > own then
          part := beyond[slot - own];
        elsif bucket_unit[k] = 'money' then
          part := least(item.hold_held[slot], owed);
        elsif item.shares is not null then
          part := coalesce(quota_taken[slot], 0);
        else
          part := least(item.hold_held[slot], covered);
          covered := covered - part::bigint;
        end if;
        if bucket_unit[k] = 'money' then
          owed := owed - part;
          freed := freed + case when is_drawn then 0 else item.hold_held[slot] end - part;
        end if;
        c.taken := c.taken || part;
        if is_drawn then
          -- The rest of what was drawn stays in the reserve.
          bucket_frozen[k] := bucket_frozen[k] - least(item.hold_held[slot], part);
          if slot <= own then
            line_held[lines[slot]] := line_held[lines[slot]] - part;
            if item.is_told then
              line_drawn[lines[slot]] := line_drawn[lines[slot]] - item.hold_held[slot];
            end if;
          end if;
        else
          bucket_frozen[k] := bucket_frozen[k] - item.hold_held[slot];
        end if;
        bucket_remaining[k] := bucket_remaining[k] - part;
        bucket_captured[k] := bucket_captured[k] + part;
        has_captures := has_captures or part > 0;
        if bucket_ended[k] and item.hold_held[slot] > part and not is_drawn then
          part := item.hold_held[slot] - part;
          bucket_remaining[k] := bucket_remaining[k] - part;
          new_transfers := new_transfers || row(
            item.id || '/' || slot || '/expired', bucket_unit[k], bucket_id[k],
            case bucket_unit[k] when 'money' then 'breakage' else 'quota_breakage' end,
            part, item.account_id, item.id, 'breakage', null, null, at, batch_id)::transfer;
        end if;
      end loop;
      b := array_position(budget_key, item.hold_key);
      if b is not null and item.held_at >= budget_since[b] then
        budget_left[b] := budget_left[b] + freed;
      end if;
      c.allocations := item.hold_allocations;
      c.held := item.hold_held;
      c.shortfall := owed;
      if owed > 0 then
        new_transfers := new_transfers || row(
          item.id || '/shortfall', 'money', 'shortfall', 'revenue', owed, item.account_id, item.id,
          'shortfall', null, null, at, batch_id)::transfer;
      end if;
      resolutions := resolutions || c;
      result := row(item.n, item.id, 'resolved', c.state, c.allocations, c.held, c.taken, c.shortfall,
                    item.account_id);
    end if;

    if result.outcome = 'already' then
      result := row(item.n, item.id, 'already', item.state, item.hold_allocations, item.hold_held, item.taken,
                    item.shortfall, item.account_id);
    end if;
    return next result;
  end loop;

  update balance_bucket p set remaining = c.remaining, frozen = c.frozen, carry = c.carry
    from unnest(bucket_id, bucket_remaining, bucket_frozen, bucket_carry) c (id, remaining, frozen, carry)
   where p.id = c.id and p.id = any (bucket_id)
     and (p.remaining, p.frozen, p.carry) is distinct from (c.remaining, c.frozen, c.carry);
  perform ledger_write_batch(batch, reservations, checkpoints, resolutions, at, batch_id);
  if cardinality(line_reserve) > 0 then
    update reserve r set held = l.held, drawn = l.drawn
      from (select id, array_agg(held order by n) as held,
                   array_agg(greatest(0, least(drawn, held)) order by n) as drawn
              from unnest(line_reserve, line_held, line_drawn) with ordinality as l (id, held, drawn, n)
             group by id) l
     where r.id = l.id and r.id = any (line_reserve);
  end if;
  if has_captures then
    insert into transfer (id, unit, debit, credit, amount, account_id, kind, created_at, batch)
    select batch_id || '/' || id, unit, id, case unit when 'money' then 'revenue' else 'quota_used' end, amount,
           account_id, 'capture', at, batch_id
      from unnest(bucket_id, bucket_unit, bucket_account, bucket_captured) p (id, unit, account_id, amount)
     where amount > 0;
  end if;
  if cardinality(new_transfers) > 0 then
    insert into transfer select * from unnest(new_transfers);
  end if;
end $$;
