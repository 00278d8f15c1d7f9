-- Who may sign in to the site. A person has one account; an account made by the operator has nobody.
create table person (
  id            text primary key,
  account_id    text not null unique references account,
  -- Trimmed and in lower case: Ann@x.org and ann@x.org are one mailbox.
  email         text not null unique check (email = lower(btrim(email))),
  name          text not null check (char_length(name) between 1 and 200),
  -- An argon2id hash in its usual notation. Null: signs in through a provider only.
  password_hash text,
  -- May see and change what concerns everybody.
  is_operator   boolean not null default false,
  created_at    timestamptz not null default now()
);

-- Who a person is elsewhere: the provider as declared, and its own name for them, which never changes.
create table person_identity (
  provider   text not null,
  subject    text not null,
  person_id  text not null references person on delete cascade,
  created_at timestamptz not null default now(),
  primary key (provider, subject)
);

create index person_identity_person on person_identity (person_id);

-- Sign-in sessions, with `storage.sessions: postgres`. Only a hash of what the browser holds is kept.
create table session (
  hash       text primary key,
  person_id  text not null references person on delete cascade,
  device     text not null,
  created_at timestamptz not null default now(),
  seen_at    timestamptz not null default now()
);

create index session_person on session (person_id);

-- How often something was tried lately, for all nodes: a bucket that is full again at `ready_at`. Losing
-- it in a crash harms nobody.
create unlogged table throttle (
  name     text primary key,
  ready_at timestamptz not null
);
