-- How many units of one kind a quota with so many pays for, and the shares (see ledger_item) with that many more
-- `covered`.
-- Locks nothing: computes only.
create or replace function ledger_cover(of_shares jsonb, unit text, available numeric, out part numeric, out shares jsonb)
language plpgsql immutable as $$
declare
  share jsonb;
begin
  part := 0;
  shares := '[]';
  for share in select value from jsonb_array_elements(of_shares) loop
    if share ->> 'kind' = unit then
      part := greatest(0, least(trunc(available),
                                (share ->> 'units')::numeric - coalesce((share ->> 'covered')::numeric, 0)));
      share := share || jsonb_build_object('covered', coalesce((share ->> 'covered')::numeric, 0) + part);
    end if;
    shares := shares || share;
  end loop;
end $$;
