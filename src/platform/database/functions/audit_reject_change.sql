-- Makes the audit log append-only: an update, delete or truncate of the table or a partition fails. Whole months are
-- dropped as partitions. Rows leave the default partition for their month, or when they are over their time:
-- tollgate.removes_from names it meanwhile.
-- Locks nothing.
create or replace function audit_reject_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('tollgate.removes_from', true) = tg_table_name then
    return old;
  end if;
  raise exception 'Entries of the audit log are never changed or removed' using errcode = 'restrict_violation';
end $$;

create or replace trigger audit_entry_is_append_only before update or delete or truncate on audit_entry
  for each statement execute function audit_reject_change();

-- As in ledger_reject_change.sql.
create or replace trigger audit_entry_rows_are_append_only before update or delete on audit_entry
  for each row execute function audit_reject_change();
