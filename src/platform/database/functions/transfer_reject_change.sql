-- Makes `transfer` append-only: an update, delete or truncate fails. Corrections are booked as new transfers.
-- Locks nothing.
create or replace function transfer_reject_change() returns trigger language plpgsql as $$
begin
  raise exception 'Transfers are never changed or removed: book the opposite instead'
    using errcode = 'restrict_violation';
end $$;

create or replace trigger transfer_is_append_only before update or delete or truncate on transfer
  for each statement execute function transfer_reject_change();
