-- Configurations as they were written, for tasks that began under them: any node compiles one again after
-- reloads and restarts, also a node that never saw the file. References to environment variables stay
-- references; their values are never stored.

create table config_version (
  -- Covers the content of `source` and of `files`, so that a version has one content.
  version      text primary key,
  source       text not null,
  -- Provider files by the name that `source` has for them.
  files        jsonb not null default '{}',
  created_at   timestamptz not null default now(),
  -- Renewed by every node for the version that it serves.
  last_used_at timestamptz not null default now()
);
