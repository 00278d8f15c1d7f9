-- Grants one month's quotas of a plan term, as the plan is configured now.
-- The caller has locked the account's wallet.
create or replace function ledger_grant_month(term plan_term, month_end timestamptz, at timestamptz) returns void
language sql as $$
  with granted as (
    insert into balance_bucket (id, account_id, source, unit, granted, remaining, created_at, ends_at)
    select format('quota:%s:%s:%s.%s', term.account_id, unit, term.number, term.month), term.account_id,
           'quota', unit, amount, amount, at, month_end
      from plan_quota p, lateral (values ('text', p.text), ('image', p.image), ('video', p.video))
             as quota (unit, amount)
     where p.plan = term.plan and amount > 0
    returning *)
  insert into transfer (id, unit, debit, credit, amount, account_id, kind, reference, created_at)
  select id || '/granted', unit, 'quota_grant', id, granted, account_id, 'grant', term.plan, at
    from granted
$$;
