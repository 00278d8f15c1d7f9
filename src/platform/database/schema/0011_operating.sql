-- What nodes agree on before they serve: the keys that seal secrets, and where files are.

create table seal_check (
  is_only boolean primary key default true check (is_only),
  sealed  text not null
);

comment on table seal_check is
  E'A known text, sealed with the first key of `SECRETS_KEY`: a start with a wrong key is refused.\n'
  'Bound: One row.';

create table file_store (
  name       text primary key,
  id         text not null,
  created_at timestamptz not null default now()
);

comment on table file_store is
  E'The folder that holds the files of this database. A node whose folder has another id is not ready.\n'
  'Bound: One row for each kind of store.';
comment on column file_store.name is 'The kind of store, as `file.store` names it.';
comment on column file_store.id is 'Content of the marker file in the folder.';

alter table node add column fingerprints jsonb;

comment on column node.fingerprints is
  'Short hashes of the secrets and the name of the file store that all nodes must share.';

create table config_history (
  number       bigint generated always as identity primary key,
  version      text not null,
  activated_at timestamptz not null default now()
);

comment on table config_history is
  E'The configurations that were in force, in their order; the same one again has another row. '
  '`config_activation` only knows the first time of each.\nBound: The newest 100.';
comment on column config_history.version is 'Its text is in `config_version`, as long as that is kept.';

-- Steps of a task and the webhook attempts of its event belong to the trace of its request.
alter table task add column traceparent text;
alter type new_task add attribute traceparent text;

comment on column task.traceparent is
  'The W3C trace context of the request that created it. Null: the request was not traced.';
