-- What nodes tell each other: where a node keeps what it keeps on its own machine, and what wakes its work.
alter table node add column home text, add column queue text;

-- When a declaration was first served by any node. Versions are fingerprints and have no order; this is it.
create table declaration (
  version  text primary key,
  first_at timestamptz not null default clock_timestamp()
);
