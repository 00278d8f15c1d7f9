-- Tokens for the admin API beside the root token, each with the scopes it was given.

create table admin_token (
  id           text primary key,
  name         text not null check (char_length(name) between 1 and 100),
  scopes       text[] not null check (cardinality(scopes) > 0),
  hash         bytea not null unique check (octet_length(hash) = 32),
  last4        text not null,
  created_at   timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at   timestamptz
);

comment on table admin_token is
  E'Tokens for the admin API. The root token, ADMIN_TOKEN, is not here. Revoked tokens stay, so that past actions can '
  'be traced to a name.\nBound: Tokens that operators created.';
comment on column admin_token.scopes is 'What it may do: read, money, configuration, support.';
comment on column admin_token.hash is 'SHA-256 of the token. The token itself is not stored.';
comment on column admin_token.last4 is 'The last four characters, to tell tokens apart in a list.';
comment on column admin_token.last_used_at is 'To the minute.';
