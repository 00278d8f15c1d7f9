-- The beginning of the nth month of a plan term. Computed in UTC, so that daylight saving does not move it.
-- Locks nothing.
create or replace function ledger_month(starts_at timestamptz, month int) returns timestamptz
language sql immutable as $$
  select (starts_at at time zone 'UTC' + make_interval(months => month)) at time zone 'UTC'
$$;
