-- Rounds `part` of `whole` of the fraction num / den half up to `scale` decimals, exactly like ledger_round_up.
-- Locks nothing.
create or replace function ledger_round_half_up(num numeric, den numeric, part bigint, whole bigint, scale int)
returns numeric language sql immutable as $$
  select div(2 * num * part * ('1e' || scale::text)::numeric + den * whole, 2 * den * whole)
         * ('1e-' || scale::text)::numeric
$$;
