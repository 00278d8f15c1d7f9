-- What the tables of the migrations are for and what bounds them. ../recreate_functions.ts creates the second one too, after
-- the migrations of a new database.

create table if not exists migration_function (
  name       text primary key,
  checksum   text not null,
  applied_at timestamptz not null default now()
);

comment on table migration is
  E'Schema migrations that were applied, so that each is applied once, and a build finds a database that is newer than '
  'itself.\nBound: Files in `src/platform/database/schema/`: one row each.';
comment on column migration.number is 'The number that the file begins with.';
comment on column migration.name is 'The rest of its name.';
comment on column migration.checksum is 'Of its text. A start is refused where it differs: an applied file must not change.';

comment on table migration_function is
  E'Functions that were created, so that those whose text has changed are created again.\n'
  'Bound: Files in `src/platform/database/functions/`: one row each, also for files of earlier builds.';
comment on column migration_function.name is 'The function and its file.';
comment on column migration_function.checksum is 'Of the text of the file.';
