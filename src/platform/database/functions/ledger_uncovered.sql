-- The part of the price price_num / price_den that is for money: each share (see ledger_item) less what of it is covered.
-- Locks nothing: computes only.
create or replace function ledger_uncovered(price_num numeric, price_den numeric, shares jsonb, out num numeric, out den numeric)
language plpgsql immutable as $$
declare
  share     jsonb;
  share_den numeric;
begin
  num := price_num;
  den := price_den;
  for share in select value from jsonb_array_elements(shares) where (value ->> 'covered')::numeric > 0 loop
    share_den := (share ->> 'den')::numeric * (share ->> 'units')::numeric;
    num := num * share_den - (share ->> 'num')::numeric * (share ->> 'covered')::numeric * den;
    den := den * share_den;
  end loop;
end $$;
