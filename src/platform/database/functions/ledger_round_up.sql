-- Rounds `part` of `whole` of the fraction num / den up to `scale` decimals. Multiplying by 10^-scale is exact;
-- dividing by 10^scale might not be.
-- Locks nothing.
create or replace function ledger_round_up(num numeric, den numeric, part bigint, whole bigint, scale int)
returns numeric language sql immutable as $$
  select div(num * part * ('1e' || scale::text)::numeric + den * whole - 1, den * whole)
         * ('1e-' || scale::text)::numeric
$$;
