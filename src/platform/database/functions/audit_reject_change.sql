-- Makes the audit log append-only: an update, delete or truncate fails. Whole months are dropped as partitions.
-- Locks nothing.
create or replace function audit_reject_change() returns trigger language plpgsql as $$
begin
  raise exception 'Entries of the audit log are never changed or removed' using errcode = 'restrict_violation';
end $$;

create or replace trigger audit_entry_is_append_only before update or delete or truncate on audit_entry
  for each statement execute function audit_reject_change();
