-- Money. What an account has stands in pots, which are cheap to check; how it got there stands in
-- transfers, which nothing ever changes. Every figure of the former is a sum over the latter, and
-- `ledger verify` says so.
--
-- One rule keeps this free of races and deadlocks: whoever touches an account's money first locks its
-- wallet, and whoever needs several wallets locks them in the order of their ids.

-- The moment that counts for money. A function, so that a test's database can have a clock of its own.
create function ledger_now() returns timestamptz language sql volatile as 'select clock_timestamp()';

create table wallet (
  account_id text primary key references account,
  -- When the account's plan ends or its quotas renew, whichever comes first.
  turns_at   timestamptz
);

create index wallet_turns on wallet (turns_at);

-- In the order of use.
create type pot_source as enum ('quota', 'gift', 'cash');

-- What an account can pay with: its cash, each gift, each month's quota of tokens (text), pictures
-- (image) or seconds (video).
create table pot (
  -- Its name in the ledger: cash:…, gift:…, quota:…
  id         text primary key,
  account_id text not null references account,
  source     pot_source not null,
  unit       text not null check (unit in ('money', 'text', 'image', 'video')),
  -- What it began with; nothing for cash, which is filled again and again.
  granted    numeric(32, 12) check (granted > 0),
  -- What is left, including what open holds reserve.
  remaining  numeric(32, 12) not null check (remaining >= 0),
  frozen     numeric(32, 12) not null default 0 check (frozen between 0 and remaining),
  created_at timestamptz not null,
  ends_at    timestamptz,
  -- When its end was booked. What open holds still reserve then goes as they resolve.
  ended_at   timestamptz,
  -- Spent pots are out of the way; only this, not every change of `remaining`, concerns the index.
  is_open    boolean not null generated always as (remaining > 0 or source = 'cash') stored,
  check ((source = 'quota') = (unit <> 'money')),
  check (unit = 'money' or (remaining = trunc(remaining) and frozen = trunc(frozen)))
) with (fillfactor = 50); -- the busiest rows of all: room to update them in place

create index pot_open on pot (account_id) where is_open;
create index pot_ending on pot (ends_at) where is_open and ended_at is null;

-- What plans grant each month, as last declared.
create table plan_quota (
  plan  text primary key,
  text  bigint not null check (text >= 0),
  image bigint not null check (image >= 0),
  video bigint not null check (video >= 0)
);

-- An account is always on one plan; this is which, and since when.
create table plan_term (
  account_id text not null references account,
  number     int not null,
  plan       text not null,
  starts_at  timestamptz not null,
  ends_at    timestamptz,
  -- Null while it lasts.
  ended_at   timestamptz,
  -- The month whose quotas were granted last, counted from 0.
  month      int,
  primary key (account_id, number)
);

create unique index plan_term_current on plan_term (account_id) where ended_at is null;

-- One row per priced request: first its reservation, then its receipt. No foreign keys here and on
-- `transfer`: the functions lock the account's wallet, and that it exists is all a key would add.
create table hold (
  id                text primary key,
  account_id        text not null,
  request_id        text not null,
  client_request_id text,
  model             text not null,
  -- Which quota it may use.
  kind              text check (kind in ('text', 'image', 'video')),
  state             text not null check (state in ('open', 'settled', 'released', 'expired')),
  -- Decimals of the currency when the request was accepted.
  scale             smallint not null check (scale between 0 and 12),
  -- The worst case: the whole price, rounded up, and the quantity it is for.
  amount            numeric(32, 12) not null check (amount >= 0),
  units             bigint not null check (units >= 0),
  -- The pots in the order of use, what is reserved in each, and what was taken of it in the end.
  legs              text[] not null,
  held              numeric(32, 12)[] not null check (cardinality(held) = cardinality(legs)),
  taken             numeric(32, 12)[] check (cardinality(taken) = cardinality(legs)),
  -- What the actual price was above the hold: ours to bear.
  lost              numeric(32, 12) check (lost >= 0),
  price             jsonb not null,
  usage             jsonb,
  -- What is owed so far, while it still grows; settles the hold if nobody comes back to it.
  noted             jsonb,
  created_at        timestamptz not null,
  expires_at        timestamptz not null,
  resolved_at       timestamptz,
  check ((state = 'open') = (resolved_at is null)),
  check ((state = 'open') = (taken is null)),
  constraint hold_reserves_no_debt check (0 <= all (held)),
  constraint hold_takes_no_debt check (0 <= all (taken))
);

create index hold_account on hold (account_id, created_at, id);
create index hold_open on hold (expires_at) where state = 'open';

-- Double entry: an amount leaves one ledger account and enters another. Ids are derived from what is
-- booked, so that doing it twice books once. Of the system's own accounts (topup, gift_expense, revenue,
-- breakage, loss, adjustment, quota_grant, quota_used, quota_breakage) there are no rows that everybody
-- would have to wait for: their balances are sums over this table.
create table transfer (
  id         text primary key,
  unit       text not null check (unit in ('money', 'text', 'image', 'video')),
  debit      text not null,
  credit     text not null check (credit <> debit),
  amount     numeric(32, 12) not null check (amount > 0),
  account_id text not null,
  hold_id    text,
  kind       text not null
             check (kind in ('credit', 'grant', 'capture', 'breakage', 'loss', 'adjustment')),
  reference  text,
  reason     text,
  created_at timestamptz not null
);

create index transfer_account on transfer (account_id, created_at, id);

create function refuse_rewriting() returns trigger language plpgsql as $$
begin
  raise exception 'Transfers are never changed or removed: book the opposite instead'
    using errcode = 'restrict_violation';
end $$;

create trigger transfer_is_append_only before update or delete or truncate on transfer
  for each statement execute function refuse_rewriting();
