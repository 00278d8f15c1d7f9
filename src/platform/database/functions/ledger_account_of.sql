-- The account of a hold or of its receipt; null where there is neither.
-- Locks nothing.
create or replace function ledger_account_of(hold_id text) returns text
language sql stable as $$
  select coalesce((select h.account_id from hold h where h.id = hold_id),
                  (select r.account_id from receipt r where r.id = hold_id))
$$;
