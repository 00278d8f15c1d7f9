-- Partitions of a table that refuses truncate refuse it too, by a trigger each: only a trigger for rows, which truncate
-- does not have, would be copied from the table by Postgres. Creates those that are missing and answers the names of their
-- partitions; a table that may be truncated needs none. Harmless to repeat.
-- Locks partitions without the trigger against writes.
create or replace function partition_reject_truncate(tables regclass[]) returns setof text language plpgsql as $$
declare
  -- Of pg_trigger.tgtype.
  on_truncate constant int := 32;
  missing record;
begin
  for missing in
    select i.inhrelid::regclass::text as partition, t.tgname as name, t.tgfoid::regproc as rejecting
      from pg_trigger t join pg_inherits i on i.inhparent = t.tgrelid
     where t.tgrelid = any (tables) and t.tgtype & on_truncate <> 0
       and not exists (select from pg_trigger o where o.tgrelid = i.inhrelid and o.tgtype & on_truncate <> 0)
     order by 1
  loop
    execute format('create or replace trigger %I before truncate on %s for each statement execute function %s()',
                   missing.name, missing.partition, missing.rejecting);
    return next missing.partition;
  end loop;
end $$;

select partition_reject_truncate(array['receipt', 'transfer', 'audit_entry']::regclass[]);
