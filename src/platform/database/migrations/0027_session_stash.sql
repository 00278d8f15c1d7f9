-- Text that a session shows after a redirect: a new API key, or a conversation. Sealed with a secret that only
-- the browser of the session has, so a copy of this table reveals nothing.
create table session_stash (
  ticket_hash  text primary key,
  session_hash text not null,
  sealed_text  bytea not null,
  expires_at   timestamptz not null
);

create index session_stash_expiry on session_stash (expires_at);
