-- The money that a settlement takes for the exact price num / den: rounded half up together with the differences
-- that rounding left from earlier charges (`carry`). Those differences take nothing beyond what is reserved: the
-- rest waits for the next charge. Never negative.
-- Locks nothing.
create or replace function ledger_owed(num numeric, den numeric, carry numeric, reserved numeric, scale int)
returns numeric language sql immutable as $$
  select greatest(0, least(
    ledger_round_half_up(num + carry * den, den, 1, 1, scale),
    greatest(reserved, ledger_round_half_up(num, den, 1, 1, scale))))
$$;
