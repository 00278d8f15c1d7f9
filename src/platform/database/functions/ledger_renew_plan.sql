-- Brings an account's plan up to date: a plan that has ended is followed by `free`, a month that has ended by the
-- current month. Months that passed in between are not granted afterwards.
-- The caller has locked the account's wallet.
create or replace function ledger_renew_plan(for_account text, at timestamptz) returns void
language plpgsql as $$
#variable_conflict use_column
declare
  term      plan_term;
  now_month int;
  month_end timestamptz;
begin
  loop
    select * into strict term from plan_term where account_id = for_account and ended_at is null;
    exit when term.ends_at is null or term.ends_at > at;
    perform ledger_end_quotas(for_account, at);
    update plan_term set ended_at = at where account_id = for_account and number = term.number;
    perform ledger_begin_term(for_account, 'free', term.ends_at, null);
    update account set plan = 'free', plan_expires_at = null where id = for_account;
  end loop;

  now_month := coalesce(term.month, 0);
  while ledger_month(term.starts_at, now_month + 1) <= at loop
    now_month := now_month + 1;
  end loop;
  month_end := least(ledger_month(term.starts_at, now_month + 1), term.ends_at);
  if now_month is distinct from term.month then
    term.month := now_month;
    perform ledger_end_quotas(for_account, at);
    perform ledger_grant_month(term, month_end, at);
    -- What is used before cash must not wait behind reserves of cash.
    perform ledger_recall(for_account, at);
    update plan_term set month = now_month where account_id = for_account and number = term.number;
  end if;
  update wallet set renews_at = month_end where account_id = for_account;
end $$;
