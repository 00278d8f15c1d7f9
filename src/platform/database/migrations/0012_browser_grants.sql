-- A key on its way to the program that asked for it in a browser: for a minute, and for the session that
-- consented. It is sealed with what only that browser holds, so a copy of this table opens nothing.
create table browser_grant (
  ticket_hash  text primary key,
  session_hash text not null,
  client       text not null,
  redirect_uri text not null,
  state        text not null,
  sealed_key   bytea not null,
  expires_at   timestamptz not null,
  -- Each way of delivery works once.
  quiet_at     timestamptz,
  page_at      timestamptz
);

create index browser_grant_expiry on browser_grant (expires_at);
