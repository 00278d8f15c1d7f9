-- Asks the nodes to return what they have reserved of an account and no request has drawn. Answers after how many
-- milliseconds it is free at the latest, also if a node is dead; null if nothing is only reserved.
-- Locks nothing.
create or replace function ledger_recall(account text, at timestamptz) returns int
language plpgsql as $$
declare
  free_at timestamptz;
begin
  select max(r.expires_at) into free_at from reserve r
   where r.account_id = account
     and exists (select from unnest(r.held, r.drawn) as l (held, drawn) where l.held > l.drawn);
  if free_at is null then return null; end if;
  perform pg_notify('tollgate_announcement', 'recall:' || account);
  return greatest(0, extract(epoch from free_at - at) * 1000);
end $$;
