-- What an operator books, and what time brings about.

/* Books money in. The same reference books once; with anything else about it different, it is refused. */
create function ledger_credit(payer text, ref text, to_source pot_source, value numeric, gift_id text,
                              to_ends_at timestamptz, out outcome text, out pot_id text)
language plpgsql as $$
#variable_conflict use_column
declare
  at          timestamptz;
  transfer_id text := format('credit:%s:%s', payer, ref);
begin
  perform from wallet where account_id = payer for no key update;
  if not found then
    outcome := 'unknown';
    return;
  end if;
  select case when t.amount = value and p.source = to_source and p.ends_at is not distinct from to_ends_at
              then 'already' else 'conflict' end, p.id
    into outcome, pot_id
    from transfer t join pot p on p.id = t.credit where t.id = transfer_id;
  if found then return; end if;

  at := ledger_now();
  if to_ends_at <= at then
    outcome := 'past';
    return;
  end if;
  pot_id := case to_source when 'cash' then 'cash:' || payer else gift_id end;
  if to_source = 'cash' then
    update pot set remaining = remaining + value where id = pot_id;
  else
    insert into pot (id, account_id, source, unit, granted, remaining, created_at, ends_at)
    values (gift_id, payer, to_source, 'money', value, value, at, to_ends_at);
  end if;
  insert into transfer (id, unit, debit, credit, amount, account_id, kind, reference, created_at)
  values (transfer_id, 'money', case to_source when 'cash' then 'topup' else 'gift_expense' end, pot_id,
          value, payer, 'credit', ref, at);
  outcome := 'booked';
end $$;

/* Corrects an account's cash up or down, never into what is frozen. */
create function ledger_adjust(payer text, ref text, value numeric, why text) returns text
language plpgsql as $$
#variable_conflict use_column
declare
  cash_id     text := 'cash:' || payer;
  transfer_id text := format('adjustment:%s:%s', payer, ref);
  booked      numeric;
begin
  perform from wallet where account_id = payer for no key update;
  if not found then return 'unknown'; end if;
  select case credit when cash_id then amount else -amount end into booked
    from transfer where id = transfer_id;
  if found then
    return case booked when value then 'already' else 'conflict' end;
  end if;
  update pot set remaining = remaining + value where id = cash_id and remaining - frozen + value >= 0;
  if not found then return 'insufficient'; end if;
  insert into transfer (id, unit, debit, credit, amount, account_id, kind, reference, reason, created_at)
  values (transfer_id, 'money', case when value > 0 then 'adjustment' else cash_id end,
          case when value > 0 then cash_id else 'adjustment' end, abs(value), payer, 'adjustment', ref, why,
          ledger_now());
  return 'booked';
end $$;

-- The sweeper's three kinds of work, each a transaction of its own and of bounded size: wallets are
-- locked in order only within one. Any number of nodes may call them; one at a time does the work.

create function ledger_is_my_sweep(kind text) returns boolean language sql as $$
  select pg_try_advisory_xact_lock(hashtextextended('tollgate sweep ' || kind, 0))
$$;

/* Resolves holds that nobody came back to: by what was noted, or by giving everything back. */
create function ledger_sweep_holds(most int) returns setof ledger_outcome
language plpgsql as $$
declare
  doc json;
begin
  if not ledger_is_my_sweep('holds') then return; end if;
  select json_agg(json_build_object('n', n, 'op', 'expire', 'id', id, 'account_id', account_id)) into doc
    from (select row_number() over () as n, id, account_id from hold
           where state = 'open' and expires_at <= ledger_now() order by expires_at limit most) due;
  if doc is not null then
    return query select * from ledger_batch(doc);
  end if;
end $$;

/* Books the end of gifts (and quotas) whose time is over. */
create function ledger_sweep_pots(most int) returns int
language plpgsql as $$
declare
  ids text[];
begin
  if not ledger_is_my_sweep('pots') then return 0; end if;
  ids := array(select id from pot where is_open and ended_at is null and ends_at <= ledger_now()
                order by ends_at limit most);
  perform from wallet where account_id = any (array(select account_id from pot where id = any (ids)))
    order by account_id for no key update;
  -- A plan that was extended while we waited for the locks has moved the end of its quotas.
  perform ledger_end_pots(
    array(select id from pot where id = any (ids) and ends_at <= ledger_now()), ledger_now());
  return cardinality(ids);
end $$;

/* Renews monthly quotas and ends plans. */
create function ledger_sweep_plans(most int) returns int
language plpgsql as $$
declare
  ids text[];
  due wallet;
begin
  if not ledger_is_my_sweep('plans') then return 0; end if;
  ids := array(select account_id from wallet where turns_at <= ledger_now() order by turns_at limit most);
  for due in select * from wallet where account_id = any (ids) order by account_id for no key update loop
    if due.turns_at <= ledger_now() then
      perform ledger_turn(due.account_id, ledger_now());
    end if;
  end loop;
  return cardinality(ids);
end $$;
