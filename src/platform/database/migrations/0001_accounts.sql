-- Who may call the gateway. Ids are made by the gateway, so a row can be named before it is stored.
create table account (
  id              text primary key,
  name            text not null check (char_length(name) between 1 and 200),
  email           text,
  plan            text not null default 'free',
  -- After this moment the account counts as on the default plan; null never expires.
  plan_expires_at timestamptz,
  -- Names a price book of the declaration. No foreign key: declarations are files, not rows.
  price_book      text,
  created_at      timestamptz not null default now()
);

-- Ann@x.org and ann@x.org are one mailbox. Accounts without an address do not collide.
create unique index account_email on account (lower(email)) where email is not null;

-- Only the SHA-256 of a key is kept: a stolen copy of this table opens nothing.
create table api_key (
  id           text primary key,
  account_id   text not null references account,
  name         text not null,
  hash         bytea not null unique check (octet_length(hash) = 32),
  -- Enough for a person to tell keys apart in a list, far too little to guess one.
  last4        text not null,
  created_at   timestamptz not null default now(),
  -- Revoked keys stay, so that what they did can still be traced to a name.
  revoked_at   timestamptz,
  last_used_at timestamptz
);

create index api_key_account on api_key (account_id);

-- What happened that other nodes must know of: a key revoked, an account changed. Nodes remember keys
-- in memory, so a revocation is complete only when every living node has seen its number.
create table change (
  number     bigint generated always as identity primary key,
  topic      text not null,
  subject    text not null,
  created_at timestamptz not null default now()
);

-- Every running gateway, and how far it has read.
create table node (
  id          text primary key,
  started_at  timestamptz not null default now(),
  seen_at     timestamptz not null,
  seen_change bigint not null default 0,
  -- Version of the declaration this node serves, to show nodes that disagree.
  declaration text
);
