-- Holds and their resolutions, many at once: everything that callers ask for while one statement is
-- under way goes into the next, and shares its round trip and its wait for the disk.

create type ledger_item as (
  n                 int,
  -- hold, settle, release, expire or note
  op                text,
  id                text,
  -- May be left out of anything but a hold.
  account_id        text,
  -- The exact amount as a fraction, and the quantity it is for.
  num               numeric,
  den               numeric,
  units             bigint,
  usage             jsonb,
  -- The rest is for holds only.
  scale             smallint,
  request_id        text,
  client_request_id text,
  model             text,
  kind              text,
  price             jsonb,
  ttl_seconds       int
);

create type ledger_outcome as (
  n       int,
  id      text,
  -- held, resolved, noted; already (somebody was first); insufficient, conflict, unknown; open
  outcome text,
  state   text,
  legs    text[],
  held    numeric[],
  taken   numeric[],
  lost    numeric
);

create type ledger_reservation as (n int, amount numeric, legs text[], held numeric[]);

/* What a fraction comes to when only `part` of its `whole` is paid for. Multiplying by 10^-scale is
   exact; dividing by 10^scale might not be. */
create function ledger_round_up(num numeric, den numeric, part bigint, whole bigint, scale int)
returns numeric language sql immutable as $$
  select div(num * part * ('1e' || scale::text)::numeric + den * whole - 1, den * whole)
         * ('1e-' || scale::text)::numeric
$$;

create function ledger_round_half_up(num numeric, den numeric, part bigint, whole bigint, scale int)
returns numeric language sql immutable as $$
  select div(2 * num * part * ('1e' || scale::text)::numeric + den * whole, 2 * den * whole)
         * ('1e-' || scale::text)::numeric
$$;

/* An item that cannot be served refuses only itself. Ids within one call must differ. */
create function ledger_batch(doc json) returns setof ledger_outcome
language plpgsql
-- The tables grow from nothing to millions of rows between two looks at their statistics; what is asked
-- here is always a handful of rows by key.
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
-- Somebody who keeps an account locked must not stop the others for long.
set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  at            timestamptz;
  batch         ledger_item[];
  accounts      text[];
  due           wallet;
  -- The pots of every account concerned, account by account and in the order of use.
  pot_account   text[];
  pot_id        text[];
  pot_unit      text[];
  pot_left      numeric[];
  pot_frozen    numeric[];
  pot_over      boolean[];
  first         int := 1; -- of the account at hand
  k             int;
  item          record;
  r             ledger_reservation;
  h             hold;
  pots          int[]; -- positions of those that a hold uses
  covered       bigint; -- units that quota pays for
  owed          numeric; -- money for the others
  part          numeric;
  t             transfer;
  answer        ledger_outcome;
  -- What is written at the end, each kind at once.
  reservations  ledger_reservation[] := '{}';
  changed_holds hold[] := '{}';
  new_transfers transfer[] := '{}';
  changed_count bigint;
begin
  batch := array(
    select row(i.n, i.op, i.id, coalesce(i.account_id, (select account_id from hold where id = i.id)),
               i.num, i.den, i.units, i.usage, i.scale, i.request_id, i.client_request_id, i.model,
               i.kind, i.price, i.ttl_seconds)::ledger_item
      from json_populate_recordset(null::ledger_item, doc) i);
  accounts := array(select account_id from unnest(batch));

  for due in
    select * from wallet where account_id = any (accounts) order by account_id for no key update
  loop
    if due.turns_at <= ledger_now() then
      perform ledger_turn(due.account_id, ledger_now());
    end if;
  end loop;
  at := ledger_now();

  select array_agg(account_id), array_agg(id), array_agg(unit), array_agg(remaining), array_agg(frozen),
         array_agg(ended_at is not null or coalesce(ends_at <= at, false))
    into pot_account, pot_id, pot_unit, pot_left, pot_frozen, pot_over
    from (select * from pot where account_id = any (accounts) and is_open
           order by account_id, source, ends_at, id) p;

  for item in
    select i.*, h.id as hold_id, h.account_id as hold_account, h.model as hold_model, h.kind as hold_kind,
           h.state, h.scale as hold_scale, h.amount, h.units as hold_units, h.legs, h.held, h.taken,
           h.lost, h.noted, h.expires_at
      from unnest(batch) i
      left join (select * from hold where id = any (array(select id from unnest(batch)))) h on h.id = i.id
     order by i.account_id, i.n
  loop
    answer := row(item.n, item.id);
    while pot_account[first] < item.account_id loop
      first := first + 1;
    end loop;

    if item.op = 'hold' then
      part := ledger_round_up(item.num, item.den, 1, 1, item.scale);
      if item.hold_id is not null then
        answer.outcome := case
          when (item.hold_account, item.hold_model, item.hold_kind, item.hold_units, item.amount)
            is not distinct from (item.account_id, item.model, item.kind, item.units, part)
          then 'already' else 'conflict' end;
      elsif pot_account[first] is distinct from item.account_id then
        answer.outcome := 'unknown';
      else
        r := row(item.n, part, '{}', '{}');
        pots := '{}';
        covered := 0;
        owed := part;
        k := first;
        while owed > 0 and pot_account[k] = item.account_id loop
          part := 0;
          if not pot_over[k] and pot_unit[k] = 'money' then
            part := least(pot_left[k] - pot_frozen[k], owed);
            owed := owed - part;
          elsif not pot_over[k] and pot_unit[k] = item.kind and item.units > 0 then
            part := least(pot_left[k] - pot_frozen[k], item.units - covered);
            covered := covered + part;
            owed := ledger_round_up(item.num, item.den, item.units - covered, item.units, item.scale);
          end if;
          if part > 0 then
            pots := pots || k;
            r.legs := r.legs || pot_id[k];
            r.held := r.held || part;
          end if;
          k := k + 1;
        end loop;

        if owed > 0 then
          answer.outcome := 'insufficient';
        else
          for leg in 1 .. cardinality(pots) loop
            pot_frozen[pots[leg]] := pot_frozen[pots[leg]] + r.held[leg];
          end loop;
          reservations := reservations || r;
          answer.outcome := 'held';
          answer.state := 'open';
        end if;
      end if;

    elsif item.hold_id is null or item.hold_account <> item.account_id then
      answer.outcome := 'unknown';
    elsif item.state <> 'open' then
      answer.outcome := 'already';
    elsif item.op = 'expire' and item.expires_at > at then
      answer.outcome := 'open';
    elsif item.op = 'note' then
      -- A note that could not be settled would stop the sweeper: it fails here.
      owed := ledger_round_half_up(item.num, item.den, 1, 1, item.hold_scale)::numeric(32, 12);
      h := null;
      h.id := item.id;
      h.state := 'open';
      h.noted := jsonb_build_object('num', item.num::text, 'den', item.den::text,
                                    'units', item.units, 'usage', item.usage);
      changed_holds := changed_holds || h;
      answer.outcome := 'noted';

    else
      if item.op = 'expire' and item.noted is not null then
        item.op := 'settle';
        item.num := item.noted ->> 'num';
        item.den := item.noted ->> 'den';
        item.units := item.noted ->> 'units';
        item.usage := item.noted -> 'usage';
      end if;
      h := null;
      h.id := item.id;
      h.state := case item.op when 'settle' then 'settled' when 'release' then 'released' else 'expired' end;
      h.taken := '{}';
      h.usage := item.usage;
      h.noted := item.noted;
      h.resolved_at := at;
      t.account_id := item.account_id;
      t.hold_id := item.id;
      t.created_at := at;
      owed := 0;
      if item.op = 'settle' then
        owed := ledger_round_half_up(item.num, item.den, 1, 1, item.hold_scale);
      end if;
      for leg in 1 .. cardinality(item.legs) loop
        k := first;
        while pot_id[k] <> item.legs[leg] loop
          k := k + 1;
        end loop;
        if pot_id[k] is null then
          raise exception 'Hold % reserves %, which is gone', item.id, item.legs[leg];
        end if;
        t.unit := pot_unit[k];
        t.debit := pot_id[k];
        part := 0;
        if pot_unit[k] = 'money' then
          part := least(item.held[leg], owed);
          owed := owed - part;
        elsif item.op = 'settle' and item.num > 0 and item.units > 0 then
          part := least(item.held[leg], item.units);
          owed := ledger_round_half_up(item.num, item.den, item.units - part::bigint, item.units,
                                       item.hold_scale);
        end if;
        h.taken := h.taken || part;
        pot_frozen[k] := pot_frozen[k] - item.held[leg];
        pot_left[k] := pot_left[k] - part;
        if part > 0 then
          t.id := item.id || '/' || leg;
          t.credit := case t.unit when 'money' then 'revenue' else 'quota_used' end;
          t.amount := part;
          t.kind := 'capture';
          new_transfers := new_transfers || t;
        end if;
        if pot_over[k] and item.held[leg] > part then
          part := item.held[leg] - part;
          pot_left[k] := pot_left[k] - part;
          t.id := item.id || '/' || leg || '/lapsed';
          t.credit := case t.unit when 'money' then 'breakage' else 'quota_breakage' end;
          t.amount := part;
          t.kind := 'breakage';
          new_transfers := new_transfers || t;
        end if;
      end loop;
      h.lost := owed;
      if owed > 0 then
        t.id := item.id || '/loss';
        t.unit := 'money';
        t.debit := 'loss';
        t.credit := 'revenue';
        t.amount := owed;
        t.kind := 'loss';
        new_transfers := new_transfers || t;
      end if;
      changed_holds := changed_holds || h;
      answer := row(item.n, item.id, 'resolved', h.state, item.legs, item.held, h.taken, h.lost);
    end if;

    if answer.outcome = 'already' then
      answer := row(item.n, item.id, 'already', item.state, item.legs, item.held, item.taken, item.lost);
    end if;
    return next answer;
  end loop;

  update pot p set remaining = c.remaining, frozen = c.frozen
    from unnest(pot_id, pot_left, pot_frozen) c (id, remaining, frozen)
   where p.id = c.id and p.id = any (pot_id)
     and (p.remaining, p.frozen) is distinct from (c.remaining, c.frozen);
  if cardinality(reservations) > 0 then
    insert into hold (id, account_id, request_id, client_request_id, model, kind, state, scale, amount,
                      units, legs, held, price, created_at, expires_at)
    select i.id, i.account_id, i.request_id, i.client_request_id, i.model, i.kind, 'open', i.scale,
           r.amount, i.units, r.legs, r.held, i.price, at, at + make_interval(secs => i.ttl_seconds)
      from unnest(reservations) r join unnest(batch) i on i.n = r.n;
  end if;
  if cardinality(changed_holds) > 0 then
    update hold h
       set state = c.state, taken = c.taken, lost = c.lost, usage = c.usage, noted = c.noted,
           resolved_at = c.resolved_at
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
