-- The time that counts for money. A function, so that a test can give its database another clock.
-- Locks nothing.
create or replace function ledger_now() returns timestamptz language sql volatile as 'select clock_timestamp()';
