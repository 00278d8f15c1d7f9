-- Puts an account on a plan and answers changed, unchanged, past (the end is not in the future) or unknown (no such
-- account). The same plan again only moves its end: nothing is granted twice.
-- Locks the account's wallet.
create or replace function ledger_set_plan(for_account text, to_plan text, to_at timestamptz) returns text
language plpgsql as $$
#variable_conflict use_column
declare
  at   timestamptz;
  term plan_term;
begin
  perform from wallet where account_id = for_account for no key update;
  if not found then return 'unknown'; end if;
  at := ledger_now();
  if to_at <= at then return 'past'; end if;
  perform ledger_renew_plan(for_account, at);
  select * into strict term from plan_term where account_id = for_account and ended_at is null;
  if term.plan = to_plan and term.ends_at is not distinct from to_at then return 'unchanged'; end if;

  if term.plan = to_plan then
    update plan_term set ends_at = to_at where account_id = for_account and number = term.number;
    update balance_bucket set ends_at = least(ledger_month(term.starts_at, term.month + 1), to_at)
     where account_id = for_account and is_open and source = 'quota' and ended_at is null;
  else
    perform ledger_end_quotas(for_account, at);
    update plan_term set ended_at = at where account_id = for_account and number = term.number;
    perform ledger_begin_term(for_account, to_plan, at, to_at);
  end if;
  perform ledger_renew_plan(for_account, at);
  perform ledger_recall(for_account, at);
  update account set plan = to_plan, plan_expires_at = to_at where id = for_account;
  return 'changed';
end $$;
