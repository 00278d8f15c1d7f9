-- The rounding difference that a settlement leaves for the account's next charge: exact price num / den minus what
-- was charged or recorded as shortfall (`owed`), truncated to 18 decimals.
-- Locks nothing.
create or replace function ledger_carry(num numeric, den numeric, owed numeric) returns numeric
language sql immutable as $$
  select div((num - owed * den) * 1e18, den) * 1e-18
$$;
