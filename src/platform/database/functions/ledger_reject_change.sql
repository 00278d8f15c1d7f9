-- Makes the tables of what was booked append-only: an update, delete or truncate of a table or a partition fails.
-- Corrections are new rows. Rows leave a default partition for their month only: tollgate.removes_from names it meanwhile.
-- Locks nothing.
create or replace function ledger_reject_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('tollgate.removes_from', true) = tg_table_name then
    return old;
  end if;
  raise exception 'Rows of % are never changed or removed: book the opposite instead', tg_table_name
    using errcode = 'restrict_violation';
end $$;

-- A change of this file creates the triggers again, which locks the tables and all partitions against writes: it needs a
-- migration that locks them first, as 0027_append_only_partitions.sql does.
create or replace trigger receipt_is_append_only before update or delete or truncate on receipt
  for each statement execute function ledger_reject_change();

create or replace trigger correction_is_append_only before update or delete or truncate on receipt_correction
  for each statement execute function ledger_reject_change();

create or replace trigger part_is_append_only before update or delete or truncate on receipt_part
  for each statement execute function ledger_reject_change();

create or replace trigger transfer_is_append_only before update or delete or truncate on transfer
  for each statement execute function ledger_reject_change();

-- Those above fire for statements that name the table. Postgres copies triggers for rows to every partition, also to one
-- that is attached later: they fire for statements that name a partition.
create or replace trigger receipt_rows_are_append_only before update or delete on receipt
  for each row execute function ledger_reject_change();

create or replace trigger transfer_rows_are_append_only before update or delete on transfer
  for each row execute function ledger_reject_change();
