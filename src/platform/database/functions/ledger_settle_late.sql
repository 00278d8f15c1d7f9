-- Settles a hold that a sweeper has resolved, as if the sweeper had not: computes the settlement anew with what the
-- sweeper took returned, and books the difference. What the account has spent meanwhile is a shortfall. Repeating it
-- changes nothing.
-- Locks the account's wallet, then the row of usage_mark.
create or replace function ledger_settle_late(doc json) returns setof ledger_outcome
language plpgsql
set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  item       ledger_item := json_populate_record(null::ledger_item, doc);
  at         timestamptz;
  h          hold;
  due        wallet;
  -- The account's balance buckets in the order of use.
  pot_id     text[];
  pot_unit   text[];
  pot_over   boolean[];
  pot_can    numeric[]; -- what the settlement may take: free, or taken for this hold before
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
  spot       int;
  t          transfer;
  rolled_up  timestamptz;
  unpaid     numeric;
  answer     ledger_outcome;
begin
  select * into h from hold where id = item.id;
  if h.id is null or h.account_id <> coalesce(item.account_id, h.account_id) then
    answer := row(item.n, item.id, 'unknown');
    return next answer;
    return;
  end if;
  select * into due from wallet where account_id = h.account_id for no key update;
  if due.turns_at <= ledger_now() then
    perform ledger_turn(due.account_id, ledger_now());
  end if;
  select * into h from hold where id = item.id; -- as it is under the lock
  if h.ended_by is distinct from 'sweeper' then
    answer := row(item.n, h.id, 'already', h.state, h.legs, h.held, h.taken, h.shortfall, h.account_id);
    return next answer;
    return;
  end if;
  at := ledger_now();

  select array_agg(id), array_agg(unit), array_agg(is_over),
         array_agg(case when is_over then back else remaining - frozen + back end),
         array_agg(0::numeric), array_agg(0::numeric), (array_agg(carry) filter (where source = 'cash'))[1]
    into pot_id, pot_unit, pot_over, pot_can, extra, change, new_carry
    from (select p.*, coalesce(b.back, 0) as back,
                 p.ended_at is not null or coalesce(p.ends_at <= at, false) as is_over
            from pot p
            left join (select leg, sum(taken) as back from unnest(h.legs, h.taken) as l (leg, taken)
                        group by leg) b on b.leg = p.id
           where p.account_id = h.account_id and (p.is_open or b.leg is not null)
           order by p.source, p.ends_at, p.id) p;
  cash := cardinality(pot_id);
  new_taken := array_fill(0::numeric, array[cardinality(h.legs)]);

  -- Undo what the checkpoint's settlement left to the account's next charge.
  for leg in 1 .. cardinality(h.legs) loop
    if h.legs[leg] like 'quota:%' then
      covered := covered + h.taken[leg]::bigint;
    else
      reserved := reserved + h.held[leg];
      paid := paid + h.taken[leg];
    end if;
  end loop;
  if h.state = 'settled' and (h.noted ->> 'num')::numeric > 0 then
    due_num := (h.noted ->> 'num')::numeric;
    due_den := (h.noted ->> 'den')::numeric;
    if (h.noted ->> 'units')::bigint > 0 then
      due_num := due_num * ((h.noted ->> 'units')::bigint - covered);
      due_den := due_den * (h.noted ->> 'units')::bigint;
    end if;
    if due_num > 0 then
      new_carry := new_carry
        - div((due_num - (paid + h.shortfall) * due_den) * 1e18, due_den) * 1e-18;
    end if;
  end if;
  covered := 0;
  paid := 0;
  owed := 0;

  if item.num > 0 then
    due_num := item.num;
    due_den := item.den;
    if item.units > 0 then
      for leg in 1 .. cardinality(h.legs) loop
        if h.legs[leg] like 'quota:%' and h.held[leg] > 0 then
          k := array_position(pot_id, h.legs[leg]);
          part := least(h.held[leg], pot_can[k], item.units - covered);
          new_taken[leg] := part;
          pot_can[k] := pot_can[k] - part;
          covered := covered + part::bigint;
        end if;
      end loop;
      due_num := item.num * (item.units - covered);
      due_den := item.den * item.units;
      if h.beyond_hold and due_num > reserved * due_den then
        -- As many units of quota as bring the rest down to the money that was held.
        wanted := item.units - covered - div(reserved * due_den, item.num);
        for k in 1 .. cash loop
          if pot_unit[k] = h.kind and not pot_over[k] and pot_can[k] > 0 and wanted > 0 then
            part := least(pot_can[k], wanted);
            extra[k] := part;
            pot_can[k] := pot_can[k] - part;
            wanted := wanted - part;
            due_num := due_num - item.num * part;
          end if;
        end loop;
      end if;
    end if;
    if due_num > 0 then
      owed := ledger_round_half_up(due_num + new_carry * due_den, due_den, 1, 1, h.scale);
      if owed > reserved then
        owed := least(owed, greatest(reserved, ledger_round_half_up(due_num, due_den, 1, 1, h.scale)));
      elsif owed < 0 then
        owed := 0;
      end if;
      if due_num <> owed * due_den then
        new_carry := new_carry + div((due_num - owed * due_den) * 1e18, due_den) * 1e-18;
      end if;
    end if;
    for leg in 1 .. cardinality(h.legs) loop
      if h.legs[leg] not like 'quota:%' and h.held[leg] > 0 then
        k := array_position(pot_id, h.legs[leg]);
        part := least(h.held[leg], pot_can[k], owed - paid);
        new_taken[leg] := part;
        pot_can[k] := pot_can[k] - part;
        paid := paid + part;
      end if;
    end loop;
    -- Others may have spent what the hold had reserved: the rest of the balance pays, at most as much.
    wanted := case when h.beyond_hold then owed else least(owed, reserved) end - paid;
    for k in 1 .. cash loop
      if pot_unit[k] = 'money' and not pot_over[k] and pot_can[k] > 0 and wanted > 0 then
        part := least(pot_can[k], wanted);
        extra[k] := extra[k] + part;
        wanted := wanted - part;
        paid := paid + part;
      end if;
    end loop;
  end if;
  unpaid := owed - paid;

  for k in 1 .. cash loop
    if extra[k] > 0 then
      spot := null;
      for leg in 1 .. cardinality(h.legs) loop
        if h.legs[leg] = pot_id[k] and h.held[leg] = 0 then spot := leg; end if;
      end loop;
      if spot is null then
        spot := cardinality(h.legs) + 1;
        h.legs[spot] := pot_id[k];
        h.held[spot] := 0;
        h.taken[spot] := 0;
      end if;
      new_taken[spot] := extra[k];
    end if;
  end loop;

  t.account_id := h.account_id;
  t.hold_id := h.id;
  t.created_at := at;
  for leg in 1 .. cardinality(h.legs) loop
    part := new_taken[leg] - h.taken[leg];
    continue when part = 0;
    k := array_position(pot_id, h.legs[leg]);
    change[k] := change[k] - part;
    t.id := h.id || '/' || leg || '/late';
    t.unit := pot_unit[k];
    t.kind := 'capture';
    t.amount := abs(part);
    t.debit := case when part > 0 then pot_id[k] when t.unit = 'money' then 'revenue' else 'quota_used' end;
    t.credit := case when part < 0 then pot_id[k] when t.unit = 'money' then 'revenue' else 'quota_used' end;
    insert into transfer select t.*;
    if part < 0 and pot_over[k] then
      change[k] := change[k] + part;
      t.id := t.id || '/lapsed';
      t.debit := pot_id[k];
      t.credit := case t.unit when 'money' then 'breakage' else 'quota_breakage' end;
      t.kind := 'breakage';
      insert into transfer select t.*;
    end if;
  end loop;
  part := unpaid - h.shortfall;
  if part <> 0 then
    t.id := h.id || '/loss/late';
    t.unit := 'money';
    t.kind := 'loss';
    t.amount := abs(part);
    t.debit := case when part > 0 then 'loss' else 'revenue' end;
    t.credit := case when part > 0 then 'revenue' else 'loss' end;
    insert into transfer select t.*;
  end if;
  update pot p set remaining = p.remaining + c.change
    from unnest(pot_id, change) c (id, change) where p.id = c.id and c.change <> 0;
  update pot p set carry = new_carry
   where p.id = pot_id[cash] and p.carry <> new_carry;

  -- The day's sums have it as it was: take that out, its new line is added up like any other. The lock keeps
  -- the sums from being made meanwhile.
  select through into strict rolled_up from usage_mark for update;
  if h.resolved_at < rolled_up then
    update usage_day d
       set calls = d.calls - l.calls, failed = d.failed - l.failed, charged = d.charged - l.charged,
           quota = d.quota - l.quota, cost = d.cost - l.cost, uncosted = d.uncosted - l.uncosted,
           input_tokens = d.input_tokens - l.input_tokens, output_tokens = d.output_tokens - l.output_tokens,
           images = d.images - l.images, seconds = d.seconds - l.seconds,
           characters = d.characters - l.characters
      from usage_line l
     where l.hold_id = h.id and d.account_id = l.account_id and d.day = l.day and d.model = l.model;
    delete from usage_day
     where account_id = h.account_id and day = (h.resolved_at at time zone 'UTC')::date and model = h.model
       and calls = 0 and failed = 0;
  end if;

  -- Allocations beyond the hold that are not needed any more.
  select array_agg(leg order by n), array_agg(held order by n), array_agg(taken order by n)
    into h.legs, h.held, h.taken
    from unnest(h.legs, h.held, new_taken) with ordinality as l (leg, held, taken, n)
   where held > 0 or taken > 0;
  h.legs := coalesce(h.legs, '{}');
  h.held := coalesce(h.held, '{}');
  h.taken := coalesce(h.taken, '{}');
  update hold set state = 'settled', legs = h.legs, held = h.held, taken = h.taken,
                  shortfall = unpaid, usage = item.usage, upstream = item.upstream,
                  cost = item.cost, resolved_at = at, ended_by = 'late'
   where id = h.id;
  answer := row(item.n, h.id, 'resolved', 'settled', h.legs, h.held, h.taken, unpaid, h.account_id);
  return next answer;
end $$;
