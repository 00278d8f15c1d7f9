-- Events, and what becomes of them at their receivers.

-- Where an account wants its events. Deleted ones stay for the delivery log.
create table webhook_endpoint (
  id              text primary key,
  account_id      text not null references account,
  url             text not null check (char_length(url) <= 2048),
  -- Of the URL, with its port: whoever shares one shares a lane (see webhook_delivery).
  host            text not null,
  description     text not null default '',
  -- Null: every type there is and will be.
  event_types     text[] check (cardinality(event_types) > 0),
  created_at      timestamptz not null default now(),
  disabled_at     timestamptz,
  -- By its owner, by an answer 410, or after days of nothing but failure.
  disabled_reason text check (disabled_reason in ('owner', 'gone', 'failing')),
  -- The first failure since the last success.
  failing_since   timestamptz,
  deleted_at      timestamptz,
  check ((disabled_at is null) = (disabled_reason is null))
);

create index webhook_endpoint_account on webhook_endpoint (account_id, id) where deleted_at is null;

-- What events are signed with: of an endpoint, or, without one, of the account, for the callback_url of
-- its requests. After a rotation the one before signs too until it expires.
create table webhook_secret (
  id          text primary key,
  account_id  text not null references account,
  endpoint_id text references webhook_endpoint,
  -- whsec_…, or sealed with the operator's key: see src/domain/webhooks/secret_box.ts.
  secret      text not null,
  created_at  timestamptz not null default now(),
  -- Null while it is the current one.
  expires_at  timestamptz
);

create unique index webhook_secret_current on webhook_secret (account_id, endpoint_id)
  nulls not distinct where expires_at is null;
create index webhook_secret_owner on webhook_secret (account_id, endpoint_id);

create table webhook_event (
  id         text primary key,
  account_id text not null references account,
  -- One event per task. Null for a test that the account asked for.
  task_id    text unique,
  type       text not null,
  -- The payload's `data` as JSON text, to the byte: what was signed once is signed again.
  data       text not null,
  created_at timestamptz not null default now()
);

-- An event on its way to one receiver.
create table webhook_delivery (
  id          text primary key,
  event_id    text not null references webhook_event,
  account_id  text not null references account,
  -- Null: the callback_url of the request.
  endpoint_id text references webhook_endpoint,
  url         text not null,
  -- Account and host. Deliveries of one lane share its slots, and its rest when the receiver is dead.
  lane        text not null,
  state       text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  -- Why it was given up.
  reason      text check (reason in ('retries_spent', 'gone', 'endpoint_disabled', 'endpoint_deleted')),
  -- Made so far, and how many of them before the present round of retries (a redelivery begins one).
  attempts    int not null default 0,
  round_from  int not null default 0,
  -- A test is tried once.
  is_test     boolean not null default false,
  -- When to look at it next: the next attempt, or the end of the lease of the one under way.
  wake_at     timestamptz,
  -- While somebody makes an attempt; his fence tells him from those after him.
  lease_until timestamptz,
  fence       int not null default 0,
  -- Of the last attempt.
  last_status int,
  last_error  text,
  created_at  timestamptz not null default now(),
  ended_at    timestamptz,
  check ((state = 'pending') = (wake_at is not null)),
  check ((state = 'pending') = (ended_at is null)),
  check ((state = 'failed') = (reason is not null)),
  check (lease_until is null or state = 'pending')
) with (fillfactor = 80);

create unique index webhook_delivery_target on webhook_delivery (event_id, endpoint_id) nulls not distinct;
create index webhook_delivery_account on webhook_delivery (account_id, id);
create index webhook_delivery_due on webhook_delivery (wake_at) where wake_at is not null;
create index webhook_delivery_lane on webhook_delivery (lane, wake_at) where wake_at is not null;

create table webhook_attempt (
  delivery_id text not null references webhook_delivery on delete cascade,
  number      int not null,
  started_at  timestamptz not null,
  latency_ms  int not null,
  -- Null when there was no answer; then `error` says why.
  status      int,
  error       text,
  -- The first 4 KB of the answer.
  response    text,
  primary key (delivery_id, number)
);
