-- Makes a partition of a table, unless it exists; answers whether it did. Rows of it that are in the default partition
-- are moved if that is allowed; else there is no partition. A statement that began before a move does not see what was
-- moved, so it is for times when little is under way.
-- Locks the default partition, for a moment: bookings of other partitions go on.
create or replace function partition_create(parent text, name text, from_key text, to_key text, may_move boolean)
returns boolean
language plpgsql
set lock_timeout = '2s'
as $$
declare
  key text := (
    select attname from pg_partitioned_table p join pg_attribute a on a.attrelid = partrelid and attnum = partattrs[0]
     where partrelid = parent::regclass);
  has_rows boolean;
begin
  if to_regclass(name) is not null then return false; end if;
  execute format('lock table %I in access exclusive mode', parent || '_default');
  execute format('select exists (select from %1$I where %2$I >= %3$L and %2$I < %4$L)', parent || '_default', key,
                 from_key, to_key) into has_rows;
  if has_rows and not may_move then return false; end if;
  execute format('create table %I (like %I including all)', name, parent);
  execute format(
    'with moved as (delete from %1$I where %2$I >= %3$L and %2$I < %4$L returning *)'
    ' insert into %5$I select * from moved',
    parent || '_default', key, from_key, to_key, name);
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, name, from_key, to_key);
  return true;
end $$;
