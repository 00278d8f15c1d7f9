-- Recalls an account's reserves if they could pay what a settlement has left unpaid: with money, or with quota of its kind
-- for so many of its units. It costs num / den. Answers like ledger_recall_for.
-- The caller has locked the account's wallet.
create or replace function ledger_recall_unpaid(for_account text, at timestamptz, for_kind text, num numeric, den numeric,
                                                units bigint, scale int, unpaid numeric) returns int
language sql as $$
  select ledger_recall_for(for_account, at, for_kind, unpaid, 1, least(units, ceil(unpaid * den * units / num))::bigint,
                           scale, 0, 0)
$$;
