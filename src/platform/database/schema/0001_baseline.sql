-- The schema of the gateway: types, tables, constraints, indexes. Functions and triggers stand in ../functions,
-- one per file. Descriptions of tables and columns are comments of the catalog; docs/contribute/schema.md is
-- generated from them.
--
-- Ids are made by the gateway, so a row can be referred to before it is stored.

-- ------------------------------------------------------------
-- Accounts and API keys

create table account (
  id              text primary key,
  name            text not null check (char_length(name) between 1 and 200),
  email           text,
  plan            text not null default 'free',
  plan_expires_at timestamptz,
  price_book      text,
  created_at      timestamptz not null default now(),
  closed_at       timestamptz,
  slowed_until    timestamptz
);

comment on table account is
  'A customer of the gateway. The row stays after the account is closed, because the ledger refers to it.';
comment on column account.email is
  'Unique without regard to case. Accounts without an address do not collide.';
comment on column account.plan_expires_at is
  'The account is on the default plan after this time. Null: the plan does not expire.';
comment on column account.price_book is
  'Names a price book of the configuration. No foreign key: the configuration is a file.';
comment on column account.closed_at is
  'When the person deleted the account. A closed account is refused everywhere.';
comment on column account.slowed_until is
  'Requests are slowed down until then, because several of them cost more than the account could pay.';

create unique index account_email on account (lower(email)) where email is not null;

create table api_key (
  id           text primary key,
  account_id   text not null references account,
  name         text not null,
  hash         bytea not null unique check (octet_length(hash) = 32),
  last4        text not null,
  created_at   timestamptz not null default now(),
  revoked_at   timestamptz,
  last_used_at timestamptz
);

comment on table api_key is
  'API keys of accounts. Revoked keys stay, so that past requests can be traced to a key name.';
comment on column api_key.hash is 'SHA-256 of the key. The key itself is not stored.';
comment on column api_key.last4 is 'The last four characters, to tell keys apart in a list.';

create index api_key_account on api_key (account_id);

-- ------------------------------------------------------------
-- People who sign in to the site

create table person (
  id                text primary key,
  account_id        text not null unique references account,
  email             text not null unique check (email = lower(btrim(email))),
  name              text not null check (char_length(name) between 1 and 200),
  password_hash     text,
  is_operator       boolean not null default false,
  created_at        timestamptz not null default now(),
  email_verified_at timestamptz,
  session_epoch     integer not null default 0,
  device_secret     bytea not null default
    decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')
);

comment on table person is
  'A person who can sign in. Each person has one account; an account made by the operator has no person.';
comment on column person.email is
  'Trimmed and in lower case, so that Ann@x.org and ann@x.org are one mailbox.';
comment on column person.password_hash is
  'An argon2id hash. Null: the person signs in through an identity provider only.';
comment on column person.is_operator is 'Operators see and change all accounts.';
comment on column person.email_verified_at is
  'When ownership of the address was proven: by an identity provider, or by an operator''s password reset. '
  'Null: the address was only typed in, and the person gets no rights over others.';
comment on column person.session_epoch is
  'A session is valid only with the same number. Raising it ends all sessions of the person, in any store.';
comment on column person.device_secret is
  'Signs the cookie of browsers that signed in before; failed sign-ins from elsewhere do not slow those '
  'browsers down. A new secret invalidates all such cookies.';

create table person_identity (
  provider   text not null,
  subject    text not null,
  person_id  text not null references person on delete cascade,
  created_at timestamptz not null default now(),
  primary key (provider, subject)
);

comment on table person_identity is 'Identities of a person at OAuth providers.';
comment on column person_identity.provider is 'The provider''s name in the configuration.';
comment on column person_identity.subject is 'The provider''s permanent id of the person.';

create index person_identity_person on person_identity (person_id);

create table session (
  hash       text primary key,
  person_id  text not null references person on delete cascade,
  device     text not null,
  created_at timestamptz not null default now(),
  seen_at    timestamptz not null default now(),
  epoch      integer not null default 0
);

comment on table session is 'Sign-in sessions, used with `storage.sessions: postgres`.';
comment on column session.hash is 'Hash of the session token. The token itself is not stored.';
comment on column session.device is 'Browser and system, for the list of sessions.';
comment on column session.epoch is 'The person''s session_epoch when the session began.';

create index session_person on session (person_id);

create table browser_grant (
  ticket_hash           text primary key,
  session_hash          text not null,
  client                text not null,
  redirect_uri          text not null,
  state                 text not null,
  sealed_key            bytea not null,
  expires_at            timestamptz not null,
  script_delivered_at   timestamptz,
  redirect_delivered_at timestamptz
);

comment on table browser_grant is
  'An API key on its way to the program that asked for it in a browser. Valid for a minute.';
comment on column browser_grant.session_hash is 'The session that gave consent.';
comment on column browser_grant.sealed_key is 'The key, encrypted with a secret that only the browser has.';
comment on column browser_grant.script_delivered_at is
  'When it was delivered by a background request of the page. Each way of delivery works once.';
comment on column browser_grant.redirect_delivered_at is 'When it was delivered by a redirect of the page.';

create index browser_grant_expiry on browser_grant (expires_at);

create table session_stash (
  ticket_hash  text primary key,
  session_hash text not null,
  sealed_text  bytea not null,
  expires_at   timestamptz not null
);

comment on table session_stash is
  'Text that a session shows after a redirect, such as a new API key. Valid for a few minutes.';
comment on column session_stash.session_hash is 'The session that may read it.';
comment on column session_stash.sealed_text is 'The text, encrypted with a secret that only the browser has.';

create index session_stash_expiry on session_stash (expires_at);

create table welcome_credit (
  address_hash bytea primary key check (octet_length(address_hash) = 32),
  granted_at   timestamptz not null default now()
);

comment on table welcome_credit is
  'Email addresses that received the welcome credit. Rows outlive the account, so that an address receives '
  'the credit once.';
comment on column welcome_credit.address_hash is 'Hash of the address, keyed with welcome_credit_secret.';

create table welcome_credit_network (
  network_hash bytea not null check (octet_length(network_hash) = 32),
  day          date not null,
  granted      integer not null check (granted > 0),
  primary key (network_hash, day)
);

comment on table welcome_credit_network is
  'Welcome credits per network and day (UTC). Rows of past days are deleted.';

create table welcome_credit_secret (
  is_only boolean primary key default true check (is_only),
  secret  bytea not null default
    decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')
);

comment on table welcome_credit_secret is
  'The key of the hashes in welcome_credit and welcome_credit_network: a copy of those tables alone does '
  'not tell who had an account.';

insert into welcome_credit_secret default values;

-- ------------------------------------------------------------
-- Limits

create unlogged table throttle (
  name     text primary key,
  ready_at timestamptz not null
);

comment on table throttle is
  'Sign-in attempts and similar events per subject, for all nodes. Unlogged: losing it in a crash of the '
  'server does no harm.';
comment on column throttle.ready_at is 'When the subject''s allowance is complete again.';

create unlogged table rate_bucket (
  key     text primary key,
  full_at double precision not null
) with (fillfactor = 50);

comment on table rate_bucket is
  'Rate limits used per API key, for all nodes. Unlogged: a crash of the server gives every key one full '
  'allowance, which costs less than a log record per request.';
comment on column rate_bucket.full_at is
  'When the bucket is full again, in milliseconds since 1970 by the server''s clock.';

-- ------------------------------------------------------------
-- Cluster

create table change (
  number     bigint generated always as identity primary key,
  topic      text not null,
  subject    text not null,
  created_at timestamptz not null default now()
);

comment on table change is
  'Events that other nodes must see, such as a revoked key. Nodes cache keys in memory; a revocation is '
  'complete when every running node has read its number.';

create table node (
  id             text primary key,
  started_at     timestamptz not null default now(),
  seen_at        timestamptz not null,
  seen_change    bigint not null default 0,
  config_version text,
  host_id        text,
  queue          text,
  currency       text
);

comment on table node is 'Running gateways.';
comment on column node.seen_at is 'The last heartbeat.';
comment on column node.seen_change is 'The newest row of `change` that the node has read.';
comment on column node.config_version is 'Version of the configuration that the node serves.';
comment on column node.host_id is 'The host whose local storage the node uses.';
comment on column node.queue is 'The kind of queue that wakes the node''s workers.';
comment on column node.currency is 'The currency that the node is configured with.';

create table config_activation (
  version      text primary key,
  activated_at timestamptz not null default clock_timestamp()
);

comment on table config_activation is
  'When each configuration version was first served by any node. Versions are hashes and have no order of '
  'their own.';

create table config_version (
  version      text primary key,
  source       text not null,
  files        jsonb not null default '{}',
  created_at   timestamptz not null default now(),
  last_used_at timestamptz not null default now()
);

comment on table config_version is
  'Configurations as they were written, for tasks that began under them: any node can compile one again. '
  'References to environment variables stay references; their values are never stored.';
comment on column config_version.version is 'Hash of `source` and `files`.';
comment on column config_version.files is 'Provider files by the name that `source` has for them.';
comment on column config_version.last_used_at is 'Renewed by every node for the version that it serves.';

-- ------------------------------------------------------------
-- Ledger
-- Balances stand in `balance_bucket`; `transfer` records every movement and is never changed. Each balance is the
-- sum of its transfers, which `ledger verify` checks.
--
-- Locking: a transaction that changes an account's money first locks the account's wallet. A transaction that needs
-- several wallets locks them in the order of their ids. This excludes races and deadlocks.

create table ledger_currency (
  is_only boolean primary key default true check (is_only),
  code    text not null
);

comment on table ledger_currency is
  'The one currency of all amounts. Amounts do not carry it, so a configuration with another currency is '
  'refused.';

create table wallet (
  account_id text primary key references account,
  renews_at  timestamptz
);

comment on table wallet is 'One row per account; its lock protects all money of the account.';
comment on column wallet.renews_at is 'When the plan ends or its quotas renew, whichever comes first.';

create index wallet_renewal on wallet (renews_at);

-- In the order of use.
create type bucket_source as enum ('quota', 'gift', 'cash');

create table balance_bucket (
  id         text primary key,
  account_id text not null references account,
  source     bucket_source not null,
  unit       text not null check (unit in ('money', 'text', 'image', 'video')),
  granted    numeric(32, 12) check (granted > 0),
  remaining  numeric(32, 12) not null check (remaining >= 0),
  frozen     numeric(32, 12) not null default 0 check (frozen between 0 and remaining),
  carry      numeric(32, 18) not null default 0 check (carry = 0 or source = 'cash'),
  created_at timestamptz not null,
  ends_at    timestamptz,
  ended_at   timestamptz,
  is_open    boolean not null generated always as (remaining > 0 or source = 'cash') stored,
  check ((source = 'quota') = (unit <> 'money')),
  check (unit = 'money' or (remaining = trunc(remaining) and frozen = trunc(frozen)))
) with (fillfactor = 50); -- updated most often: leaves room for updates in place

comment on table balance_bucket is
  'What an account can pay with: its cash, each promotional credit, and each month''s quota of tokens '
  '(text), images (image) or seconds (video).';
comment on column balance_bucket.id is 'Also its account name in transfers: cash:…, gift:…, quota:…';
comment on column balance_bucket.granted is 'The initial amount. Null for cash, which is topped up again and again.';
comment on column balance_bucket.remaining is 'What is left, including what open holds reserve.';
comment on column balance_bucket.frozen is 'The sum of what open holds reserve.';
comment on column balance_bucket.carry is
  'Of cash: exact charges so far minus charged and recorded amounts. Rounding differences are added to the '
  'next charge.';
comment on column balance_bucket.ended_at is
  'When its end was booked. What open holds still reserve then leaves when they are resolved.';
comment on column balance_bucket.is_open is
  'Keeps empty ones out of the indexes; changes only when `remaining` reaches or leaves zero.';

create index balance_bucket_open on balance_bucket (account_id) where is_open;
create index balance_bucket_ending on balance_bucket (ends_at) where is_open and ended_at is null;

create table plan_quota (
  plan  text primary key,
  text  bigint not null check (text >= 0),
  image bigint not null check (image >= 0),
  video bigint not null check (video >= 0)
);

comment on table plan_quota is 'Monthly quotas of plans, as last configured.';

create table plan_term (
  account_id text not null references account,
  number     int not null,
  plan       text not null,
  starts_at  timestamptz not null,
  ends_at    timestamptz,
  ended_at   timestamptz,
  month      int,
  primary key (account_id, number)
);

comment on table plan_term is
  'Which plan an account is on, and since when. An account always has one current term.';
comment on column plan_term.ended_at is 'Null while the term lasts.';
comment on column plan_term.month is 'The month whose quotas were granted last, counted from 0.';

create unique index plan_term_current on plan_term (account_id) where ended_at is null;

create table hold (
  id                text primary key,
  account_id        text not null,
  request_id        text not null,
  client_request_id text,
  model             text not null,
  kind              text check (kind in ('text', 'image', 'video')),
  state             text not null check (state in ('open', 'settled', 'released', 'expired')),
  scale             smallint not null check (scale between 0 and 12),
  amount            numeric(32, 12) not null check (amount >= 0),
  units             bigint not null check (units >= 0),
  allocations       text[] not null,
  held              numeric(32, 12)[] not null check (cardinality(held) = cardinality(allocations)),
  taken             numeric(32, 12)[] check (cardinality(taken) = cardinality(allocations)),
  shortfall         numeric(32, 12) check (shortfall >= 0),
  beyond_hold       boolean not null default false,
  price             jsonb not null,
  usage             jsonb,
  checkpoint        jsonb,
  upstream          text,
  cost              numeric(32, 12) check (cost >= 0),
  created_at        timestamptz not null,
  expires_at        timestamptz not null,
  resolved_at       timestamptz,
  ended_by          text check (ended_by in ('sweeper', 'late')),
  check ((state = 'open') = (resolved_at is null)),
  check ((state = 'open') = (taken is null)),
  constraint hold_reserves_no_debt check (0 <= all (held)),
  constraint hold_takes_no_debt check (0 <= all (taken))
);

comment on table hold is
  'One row per priced request: first its reservation, then its receipt. No foreign keys here and in '
  '`transfer`: the functions lock the account''s wallet, which proves that the account exists.';
comment on column hold.kind is 'The unit of quota that may pay.';
comment on column hold.scale is 'Decimals of the currency when the request was accepted.';
comment on column hold.amount is 'The maximum price, rounded up.';
comment on column hold.units is 'The quantity that `amount` is for.';
comment on column hold.allocations is 'Ids of the rows of `balance_bucket` that pay, in the order of use.';
comment on column hold.held is 'The amount reserved in each of them. Zero: it paid beyond the hold.';
comment on column hold.taken is 'The amount finally taken from each of them.';
comment on column hold.shortfall is 'The part of the price that the account could not pay.';
comment on column hold.beyond_hold is
  'The settlement may take more than was held: the upstream''s report counts, not the estimate.';
comment on column hold.price is 'Snapshot of the price.';
comment on column hold.checkpoint is
  'Usage and price so far of a request that is still running. Settles the hold if the request does not come '
  'back.';
comment on column hold.upstream is 'provider/model that answered.';
comment on column hold.cost is
  'What the upstream charges for it, in the gateway''s currency. Null: the configuration does not say.';
comment on column hold.ended_by is
  'Null: resolved by its own process. sweeper: resolved by a sweeper, a settlement may still amend it. '
  'late: amended by such a settlement, final.';

create index hold_account on hold (account_id, created_at, id);
create index hold_open on hold (expires_at) where state = 'open';
create index hold_resolved on hold (resolved_at, account_id) where resolved_at is not null;
create index hold_shortfall on hold (account_id, resolved_at) where shortfall > 0;

create table transfer (
  id         text primary key,
  unit       text not null check (unit in ('money', 'text', 'image', 'video')),
  debit      text not null,
  credit     text not null check (credit <> debit),
  amount     numeric(32, 12) not null check (amount > 0),
  account_id text not null,
  hold_id    text,
  kind       text not null
             check (kind in ('credit', 'grant', 'capture', 'breakage', 'shortfall', 'adjustment')),
  reference  text,
  reason     text,
  created_at timestamptz not null
);

comment on table transfer is
  'Double entry: an amount leaves one ledger account and enters another. Append-only, enforced by a '
  'trigger. The system''s own accounts (topup, gift_expense, revenue, breakage, shortfall, adjustment, '
  'quota_grant, quota_used, quota_breakage) have no rows that every booking would have to lock: their '
  'balances are sums over this table.';
comment on column transfer.id is 'Derived from what is booked, so that repeating a booking books once.';
comment on column transfer.reference is
  'The caller''s own id of a credit or adjustment; the plan of a grant.';

create index transfer_account on transfer (account_id, created_at, id);

-- Arguments and results of ledger_batch.
create type ledger_item as (
  n                 int,
  op                text,      -- hold, settle, release, expire or note
  id                text,      -- of the hold
  account_id        text,      -- optional unless op is hold
  num               numeric,   -- the exact price is num / den
  den               numeric,
  units             bigint,    -- the quantity that the price is for
  usage             jsonb,
  scale             smallint,  -- from here to ttl_seconds: for op hold only
  request_id        text,
  client_request_id text,
  model             text,
  kind              text,
  price             jsonb,
  ttl_seconds       int,
  upstream          text,
  cost              numeric,
  beyond_hold       boolean    -- for op hold only
);

create type ledger_outcome as (
  n           int,
  id          text,
  -- held, resolved, checkpointed, already (an earlier call did it), insufficient, conflict, unknown, open
  outcome     text,
  state       text,
  allocations text[],
  held        numeric[],
  taken       numeric[],
  shortfall   numeric,
  account_id  text
);

create type ledger_reservation as (n int, amount numeric, allocations text[], held numeric[]);

-- ------------------------------------------------------------
-- Usage statistics
-- Sums are made in the background, so that booking money never waits for them.

create table usage_day (
  account_id    text not null,
  day           date not null,
  model         text not null,
  calls         bigint not null,
  failed        bigint not null,
  charged       numeric(32, 12) not null,
  quota         bigint not null,
  cost          numeric(32, 12) not null,
  uncosted      bigint not null,
  input_tokens  bigint not null,
  output_tokens bigint not null,
  images        bigint not null,
  seconds       numeric(32, 12) not null,
  characters    bigint not null,
  primary key (account_id, day, model)
);

comment on table usage_day is 'Usage per account, day and model, so that charts need not read all receipts.';
comment on column usage_day.day is 'In UTC, by the time the request was resolved.';
comment on column usage_day.calls is 'Settled requests.';
comment on column usage_day.failed is 'Requests whose hold was returned.';
comment on column usage_day.charged is 'Money taken from credits and cash.';
comment on column usage_day.quota is 'Units of quota taken instead of money.';
comment on column usage_day.cost is 'What upstreams charge, as far as the configuration says.';
comment on column usage_day.uncosted is 'Settled requests whose upstream cost is not configured.';

create index usage_day_day on usage_day (day);

create table usage_watermark (
  is_only boolean primary key default true check (is_only),
  through timestamptz not null
);

comment on table usage_watermark is 'Everything resolved before `through` is in usage_day, and nothing else is.';

insert into usage_watermark (through) values ('-infinity');

create view usage_line as
  select h.account_id, h.resolved_at, (h.resolved_at at time zone 'UTC')::date as day, h.model,
         (h.state = 'settled')::int as calls,
         (h.state <> 'settled')::int as failed,
         coalesce(part.charged, 0) as charged,
         coalesce(part.quota, 0)::bigint as quota,
         coalesce(h.cost, 0) as cost,
         (h.state = 'settled' and h.cost is null)::int as uncosted,
         coalesce((h.usage ->> 'input_tokens')::bigint, 0)
           + coalesce((h.usage ->> 'cached_input_tokens')::bigint, 0) as input_tokens,
         coalesce((h.usage ->> 'output_tokens')::bigint, 0)
           + coalesce((h.usage ->> 'reasoning_tokens')::bigint, 0) as output_tokens,
         coalesce((h.usage ->> 'images')::bigint, 0) as images,
         coalesce((h.usage ->> 'seconds')::numeric, 0) as seconds,
         coalesce((h.usage ->> 'characters')::bigint, 0) as characters,
         h.id as hold_id
    from hold h
    left join lateral (
      select sum(t) filter (where bucket not like 'quota:%') as charged,
             sum(t) filter (where bucket like 'quota:%') as quota
        from unnest(h.allocations, h.taken) as l (bucket, t)) part on true
   where h.resolved_at is not null;

comment on view usage_line is 'Resolved requests, each as one line of usage_day.';

-- ------------------------------------------------------------
-- Tasks

create table task (
  id                  text primary key,
  account_id          text not null,
  request_id          text not null unique,
  client_request_id   text,
  idempotency_key     text,
  type                text not null,
  model               text not null,
  status              text not null default 'queued'
                      check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired')),
  progress            smallint not null default 0 check (progress between 0 and 100),
  job                 jsonb not null,
  config_version      text not null,
  callback_url        text,
  created_at          timestamptz not null default now(),
  updated_at          timestamptz not null default now(),
  started_at          timestamptz,
  completed_at        timestamptz,
  deadline_at         timestamptz not null,
  deadline_seconds    int not null check (deadline_seconds > 0),
  outputs             jsonb not null default '[]',
  units               bigint not null default 0 check (units >= 0),
  usage               jsonb,
  error_code          text,
  error_message       text,
  stage               text,
  stages              jsonb,

  parent_id           text references task (id),
  subtask             text,
  attempt             smallint not null default 1,
  wakeups             int not null default 0,

  phase               text not null default 'submit'
                      check (phase in ('submit', 'submitting', 'accepted', 'copying', 'pipeline')),
  provider            text,
  upstream_model      text,
  upstream_id         text,
  submitted_at        timestamptz,
  tried               text[] not null default '{}',
  result              jsonb,
  cancel_requested_at timestamptz,
  cancel_sent_at      timestamptz,
  poll_count          int not null default 0,
  download_tries      smallint not null default 0,
  failures            int not null default 0,
  last_failure        text,
  dead_at             timestamptz,
  wake_at             timestamptz,
  lease_until         timestamptz,
  fence               bigint not null default 0,

  check ((status in ('queued', 'running')) = (completed_at is null)),
  check ((completed_at is null) = (wake_at is not null)),
  check (phase <> 'accepted' or upstream_id is not null),
  constraint task_subtask_named check ((parent_id is null) = (subtask is null))
) with (fillfactor = 70);

comment on table task is
  'Work that outlives its request: what was requested, its progress, and when a worker must run it next. '
  'Queues only wake workers; a worker claims the row here, and only the holder of the newest fence may '
  'change it. Subtasks of a drama are rows too; they have no money and no event of their own, and clients '
  'do not see them.';
comment on column task.request_id is 'The request that created it; also the id of its hold.';
comment on column task.job is 'The request in the gateway''s own format; enough to run it after any reload.';
comment on column task.config_version is 'Version of the configuration that the request was accepted under.';
comment on column task.deadline_at is
  'When it expires: while queued by the queue''s time to live, then by the model''s deadline.';
comment on column task.outputs is 'Stored files by index. An index that is filled is never filled again.';
comment on column task.units is 'Quantity produced.';
comment on column task.usage is 'Of a subtask: what it used. Its parent pays.';
comment on column task.stage is 'Of a drama: the current stage.';
comment on column task.stages is 'Of a drama: status and results of each stage.';
comment on column task.parent_id is 'Of a subtask: the drama it belongs to.';
comment on column task.subtask is 'Of a subtask: its name within the drama, such as script or video/3.';
comment on column task.attempt is 'Of a subtask: counts from 1.';
comment on column task.wakeups is 'Of a drama: how often a subtask has ended.';
comment on column task.phase is
  'submit: no upstream has it. submitting: sent, no response known. accepted: an upstream has it under '
  'upstream_id. copying: results are known and not all stored. chained: it waits for its subtasks.';
comment on column task.tried is 'Upstreams that did not accept it.';
comment on column task.result is
  'Locations of results that cannot be requested again. Removed when the task ends.';
comment on column task.poll_count is
  'Requests to the upstream in this phase so far; determines the time until the next one.';
comment on column task.download_tries is
  'Failed downloads of results. Not reset by other steps that succeed: a job whose status can be read and '
  'whose result cannot would never end.';
comment on column task.failures is
  'Failed steps in a row. Too many stop the task until an operator retries it.';
comment on column task.dead_at is 'When it was stopped because of too many failures.';
comment on column task.wake_at is 'When a worker must run it next. Null when it is over.';
comment on column task.fence is 'Fencing token: raised by each claim.';

create index task_account on task (account_id, id);
create index task_due on task (wake_at) where wake_at is not null;
create index task_dead on task (dead_at) where dead_at is not null;
create unique index task_subtask on task (parent_id, subtask, attempt) where parent_id is not null;

create table task_load (
  account_id text primary key,
  active     int not null check (active >= 0)
) with (fillfactor = 50);

comment on table task_load is
  'Number of unfinished tasks per account. Kept as a counter, so that the limit costs the same with one and '
  'with ten thousand tasks; `ledger verify` checks it.';

create table idempotency (
  account_id text not null,
  key        text not null check (char_length(key) between 1 and 255),
  path       text not null,
  body_hash  text not null,
  task_id    text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  primary key (account_id, key)
);

comment on table idempotency is
  'Idempotency keys: a repeated request finds the task that the first one created.';
comment on column idempotency.expires_at is 'Null while the task is unfinished.';

create index idempotency_over on idempotency (expires_at) where expires_at is not null;

-- Argument of task_create.
create type new_task as (
  n                 int,
  id                text,
  account_id        text,
  request_id        text,
  client_request_id text,
  key               text,
  path              text,
  body_hash         text,
  type              text,
  model             text,
  job               jsonb,
  config_version    text,
  callback_url      text,
  stages            jsonb,
  queue_seconds     int,
  deadline_seconds  int,
  max_active        int,
  hold              json -- a ledger_item
);

-- ------------------------------------------------------------
-- Files

create table file (
  id             text primary key,
  account_id     text not null references account,
  origin         text not null check (origin in ('upload', 'output')),
  task_id        text,
  store          text not null check (store in ('local', 's3')),
  filename       text not null check (char_length(filename) between 1 and 255),
  mime_type      text not null,
  kind           text not null check (kind in ('image', 'audio', 'video')),
  reserved_bytes bigint check (reserved_bytes > 0),
  bytes          bigint check (bytes > 0),
  sha256         text check (sha256 ~ '^[0-9a-f]{64}$'),
  width          integer check (width > 0),
  height         integer check (height > 0),
  duration_ms    bigint check (duration_ms > 0),
  created_at     timestamptz not null default now(),
  ready_at       timestamptz,
  expires_at     timestamptz not null,
  cleaning_at    timestamptz,
  check (ready_at is null or (bytes is not null and sha256 is not null)),
  check ((origin = 'output') = (task_id is not null))
);

comment on table file is
  'Uploads and outputs. The bytes are in a folder or bucket under the row''s id. The row is written first, '
  'so that there are never bytes without a row.';
comment on column file.task_id is
  'The task that produced it. No foreign key: tasks and files have different retention.';
comment on column file.reserved_bytes is
  'Of an upload: how much of the account''s storage it may take until its size is known.';
comment on column file.bytes is 'Null until all bytes have arrived.';
comment on column file.ready_at is 'When all bytes were stored. Clients do not see the file before.';
comment on column file.expires_at is
  'Clients do not see the file from then on, and the cleaner deletes row and bytes. Deleting a file sets it '
  'to now. Uploads that were never finished have it too.';
comment on column file.cleaning_at is
  'When a cleaner claimed it. Another cleaner may claim it again after a while.';

create index file_account on file (account_id, id) where ready_at is not null;
create index file_expiry on file (expires_at);
create index file_task on file (task_id) where task_id is not null;
create index file_space on file (account_id) include (expires_at, bytes, reserved_bytes)
  where origin = 'upload';

create table content_secret (
  number     bigint generated always as identity primary key,
  secret     bytea not null default
    decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'),
  created_at timestamptz not null default now()
);

comment on table content_secret is
  'Secrets that sign URLs of file content. The newest signs; older ones stay valid as long as a URL signed '
  'with them may be. To rotate: insert into content_secret default values.';

insert into content_secret default values;

-- ------------------------------------------------------------
-- Webhooks

create table webhook_endpoint (
  id              text primary key,
  account_id      text not null references account,
  url             text not null check (char_length(url) <= 2048),
  host            text not null,
  description     text not null default '',
  event_types     text[] check (cardinality(event_types) > 0),
  created_at      timestamptz not null default now(),
  disabled_at     timestamptz,
  disabled_reason text check (disabled_reason in ('owner', 'gone', 'failing')),
  failing_since   timestamptz,
  deleted_at      timestamptz,
  check ((disabled_at is null) = (disabled_reason is null))
);

comment on table webhook_endpoint is
  'Where an account receives its events. Deleted endpoints stay for the delivery log.';
comment on column webhook_endpoint.host is 'Host and port of the URL; part of the deliveries'' destination.';
comment on column webhook_endpoint.event_types is 'Null: all present and future types.';
comment on column webhook_endpoint.disabled_reason is
  'owner: by the account. gone: the receiver answered 410. failing: every delivery failed for days.';
comment on column webhook_endpoint.failing_since is 'The first failure since the last success.';

create index webhook_endpoint_account on webhook_endpoint (account_id, id) where deleted_at is null;

create table webhook_secret (
  id          text primary key,
  account_id  text not null references account,
  endpoint_id text references webhook_endpoint,
  secret      text not null,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz
);

comment on table webhook_secret is
  'Signing secrets of an endpoint or, without endpoint_id, of the account for the callback_url of its '
  'requests. After a rotation the previous secret signs too until it expires.';
comment on column webhook_secret.secret is
  'whsec_…, or encrypted with the operator''s key: see src/domain/webhooks/secret_box.ts.';
comment on column webhook_secret.expires_at is 'Null: the current secret.';

create unique index webhook_secret_current on webhook_secret (account_id, endpoint_id)
  nulls not distinct where expires_at is null;
create index webhook_secret_owner on webhook_secret (account_id, endpoint_id);

create table webhook_event (
  id         text primary key,
  account_id text not null references account,
  task_id    text unique,
  type       text not null,
  data       text not null,
  created_at timestamptz not null default now()
);

comment on table webhook_event is 'Events of tasks and tests.';
comment on column webhook_event.task_id is 'One event per task. Null for a test event.';
comment on column webhook_event.data is
  'The payload''s `data` as JSON text, byte for byte: every attempt signs the same bytes.';

create table webhook_delivery (
  id                         text primary key,
  event_id                   text not null references webhook_event,
  account_id                 text not null references account,
  endpoint_id                text references webhook_endpoint,
  url                        text not null,
  destination                text not null,
  state                      text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  reason                     text check (reason in ('retries_spent', 'gone', 'endpoint_disabled', 'endpoint_deleted')),
  attempts                   int not null default 0,
  attempts_before_redelivery int not null default 0,
  is_test                    boolean not null default false,
  wake_at                    timestamptz,
  lease_until                timestamptz,
  fence                      int not null default 0,
  last_status                int,
  last_error                 text,
  created_at                 timestamptz not null default now(),
  ended_at                   timestamptz,
  check ((state = 'pending') = (wake_at is not null)),
  check ((state = 'pending') = (ended_at is null)),
  check ((state = 'failed') = (reason is not null)),
  check (lease_until is null or state = 'pending')
) with (fillfactor = 80);

comment on table webhook_delivery is 'Delivery of an event to one receiver.';
comment on column webhook_delivery.endpoint_id is 'Null: the callback_url of the request.';
comment on column webhook_delivery.destination is
  'Account and host. Deliveries to one destination share its slots and its circuit breaker.';
comment on column webhook_delivery.reason is 'Why the delivery failed finally.';
comment on column webhook_delivery.attempts is 'Attempts so far.';
comment on column webhook_delivery.attempts_before_redelivery is
  'Attempts made before the latest redelivery; the retry schedule counts from there.';
comment on column webhook_delivery.is_test is 'A test event is attempted once.';
comment on column webhook_delivery.wake_at is 'The next attempt, or the end of the lease of the current one.';
comment on column webhook_delivery.lease_until is 'Set while a node makes an attempt.';
comment on column webhook_delivery.fence is 'Fencing token: raised by each claim.';
comment on column webhook_delivery.last_status is 'HTTP status of the last attempt.';

create unique index webhook_delivery_target on webhook_delivery (event_id, endpoint_id) nulls not distinct;
create index webhook_delivery_account on webhook_delivery (account_id, id);
create index webhook_delivery_due on webhook_delivery (wake_at) where wake_at is not null;
create index webhook_delivery_destination on webhook_delivery (destination, wake_at) where wake_at is not null;

create table webhook_attempt (
  delivery_id text not null references webhook_delivery on delete cascade,
  number      int not null,
  started_at  timestamptz not null,
  latency_ms  int not null,
  status      int,
  error       text,
  response    text,
  primary key (delivery_id, number)
);

comment on table webhook_attempt is 'Attempts of a delivery.';
comment on column webhook_attempt.status is 'HTTP status. Null: no response; then `error` says why.';
comment on column webhook_attempt.response is 'The first 4 KB of the response.';
