-- Plans and their quotas. Every function here expects that its caller has locked the account's wallet.

/* The beginning of a term's nth month. In UTC, so that no change of the clocks moves it. */
create function ledger_month(starts_at timestamptz, month int) returns timestamptz
language sql immutable as $$
  select (starts_at at time zone 'UTC' + make_interval(months => month)) at time zone 'UTC'
$$;

/* Books the end of pots: what is left lapses, what is frozen stays with its holds. */
create function ledger_end_pots(ids text[], at timestamptz) returns void
language sql as $$
  with ended as (
    insert into transfer (id, unit, debit, credit, amount, account_id, kind, created_at)
    select id || '/lapsed', unit, id, case unit when 'money' then 'breakage' else 'quota_breakage' end,
           remaining - frozen, account_id, 'breakage', at
      from pot where id = any (ids) and remaining > frozen and ended_at is null)
  update pot set remaining = frozen, ended_at = at, ends_at = least(ends_at, at)
   where id = any (ids) and ended_at is null
$$;

create function ledger_end_quotas(payer text, at timestamptz) returns void
language sql as $$
  select ledger_end_pots(array(
    select id from pot where account_id = payer and is_open and source = 'quota' and ended_at is null), at)
$$;

/* Grants one month's quotas of a term, as the plan is declared now. */
create function ledger_grant_month(term plan_term, month_end timestamptz, at timestamptz) returns void
language sql as $$
  with granted as (
    insert into pot (id, account_id, source, unit, granted, remaining, created_at, ends_at)
    select format('quota:%s:%s:%s.%s', term.account_id, unit, term.number, term.month), term.account_id,
           'quota', unit, amount, amount, at, month_end
      from plan_quota p, lateral (values ('text', p.text), ('image', p.image), ('video', p.video))
             as declared (unit, amount)
     where p.plan = term.plan and amount > 0
    returning *)
  insert into transfer (id, unit, debit, credit, amount, account_id, kind, reference, created_at)
  select id || '/granted', unit, 'quota_grant', id, granted, account_id, 'grant', term.plan, at
    from granted
$$;

create function ledger_begin_term(payer text, to_plan text, from_at timestamptz, to_at timestamptz)
returns void language sql as $$
  insert into plan_term (account_id, number, plan, starts_at, ends_at)
  select payer, coalesce(max(number), 0) + 1, to_plan, from_at, to_at
    from plan_term where account_id = payer
$$;

/* Brings an account's plan up to the present: a term that is over gives way to `free`, a month that is
   over to the present one. Months that nobody looked at are not made up for. */
create function ledger_turn(payer text, at timestamptz) returns void
language plpgsql as $$
#variable_conflict use_column
declare
  term      plan_term;
  now_month int;
  month_end timestamptz;
begin
  loop
    select * into strict term from plan_term where account_id = payer and ended_at is null;
    exit when term.ends_at is null or term.ends_at > at;
    perform ledger_end_quotas(payer, at);
    update plan_term set ended_at = at where account_id = payer and number = term.number;
    perform ledger_begin_term(payer, 'free', term.ends_at, null);
    update account set plan = 'free', plan_expires_at = null where id = payer;
  end loop;

  now_month := coalesce(term.month, 0);
  while ledger_month(term.starts_at, now_month + 1) <= at loop
    now_month := now_month + 1;
  end loop;
  month_end := least(ledger_month(term.starts_at, now_month + 1), term.ends_at);
  if now_month is distinct from term.month then
    term.month := now_month;
    perform ledger_end_quotas(payer, at);
    perform ledger_grant_month(term, month_end, at);
    update plan_term set month = now_month where account_id = payer and number = term.number;
  end if;
  update wallet set turns_at = month_end where account_id = payer;
end $$;

/* Puts an account on a plan. The same plan again only moves its end: nothing is granted twice. */
create function ledger_set_plan(payer text, to_plan text, to_at timestamptz) returns text
language plpgsql as $$
#variable_conflict use_column
declare
  at   timestamptz;
  term plan_term;
begin
  perform from wallet where account_id = payer for no key update;
  if not found then return 'unknown'; end if;
  at := ledger_now();
  if to_at <= at then return 'past'; end if;
  perform ledger_turn(payer, at);
  select * into strict term from plan_term where account_id = payer and ended_at is null;
  if term.plan = to_plan and term.ends_at is not distinct from to_at then return 'unchanged'; end if;

  if term.plan = to_plan then
    update plan_term set ends_at = to_at where account_id = payer and number = term.number;
    update pot set ends_at = least(ledger_month(term.starts_at, term.month + 1), to_at)
     where account_id = payer and is_open and source = 'quota' and ended_at is null;
  else
    perform ledger_end_quotas(payer, at);
    update plan_term set ended_at = at where account_id = payer and number = term.number;
    perform ledger_begin_term(payer, to_plan, at, to_at);
  end if;
  perform ledger_turn(payer, at);
  update account set plan = to_plan, plan_expires_at = to_at where id = payer;
  return 'changed';
end $$;

/* Every account has a wallet, cash (none yet) and a term from its first moment. */
create function ledger_open_account(payer text, plan text, plan_ends_at timestamptz, at timestamptz)
returns void language sql as $$
  insert into wallet (account_id) values (payer);
  insert into pot (id, account_id, source, unit, remaining, created_at)
  values ('cash:' || payer, payer, 'cash', 'money', 0, at);
  select ledger_begin_term(payer, plan, at, plan_ends_at);
  select ledger_turn(payer, at);
$$;

create function open_new_account() returns trigger language plpgsql as $$
begin
  perform ledger_open_account(new.id, new.plan, new.plan_expires_at, ledger_now());
  return null;
end $$;

create trigger account_has_wallet after insert on account
  for each row execute function open_new_account();

do $$
begin
  perform ledger_open_account(id, plan, plan_expires_at, ledger_now()) from account;
end $$;
