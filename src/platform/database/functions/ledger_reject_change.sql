-- Makes the tables of what was booked append-only: an update, delete or truncate fails. Corrections are new rows.
-- Locks nothing.
create or replace function ledger_reject_change() returns trigger language plpgsql as $$
begin
  raise exception 'Rows of % are never changed or removed: book the opposite instead', tg_table_name
    using errcode = 'restrict_violation';
end $$;

create or replace trigger transfer_is_append_only before update or delete or truncate on transfer
  for each statement execute function ledger_reject_change();

create or replace trigger receipt_is_append_only before update or delete or truncate on receipt
  for each statement execute function ledger_reject_change();

create or replace trigger correction_is_append_only before update or delete or truncate on receipt_correction
  for each statement execute function ledger_reject_change();

create or replace trigger part_is_append_only before update or delete or truncate on receipt_part
  for each statement execute function ledger_reject_change();
