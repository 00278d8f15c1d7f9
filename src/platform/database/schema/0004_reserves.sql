-- Reserves: holds of a whole node, from which its requests draw in memory.

create table reserve (
  id          text primary key,
  account_id  text not null,
  node_id     text not null,
  renewal     int not null,
  allocations text[] not null,
  held        numeric(32, 12)[] not null check (cardinality(held) = cardinality(allocations)),
  drawn       numeric(32, 12)[] not null check (cardinality(drawn) = cardinality(allocations)),
  lease_ms    int not null,
  expires_at  timestamptz not null,
  recalled_at timestamptz,
  constraint reserve_is_no_debt check (0 <= all (held)),
  constraint reserve_draws_no_debt check (0 <= all (drawn))
) with (fillfactor = 50); -- small, and updated with every batch: no index on what changes

comment on table reserve is
  'Money and quota of an account that a node has reserved for requests to come: they draw from it in memory and need '
  'no hold of their own. The part that no request has drawn counts as available, and is returned when it is needed.';
comment on column reserve.renewal is
  'The number of the last renewal. One with a lower number comes too late and changes nothing.';
comment on column reserve.allocations is 'Ids of the rows of `balance_bucket` that it reserves.';
comment on column reserve.held is 'The amount reserved in each of them: what is drawn and what is left.';
comment on column reserve.drawn is
  'The part of it for requests under way that last, as the node said when it last renewed, less those that have ended.';
comment on column reserve.lease_ms is 'For how long a renewal keeps it.';
comment on column reserve.expires_at is
  'The end of the lease. A node that cannot renew it draws no more; the sweeper then returns what is left.';
comment on column reserve.recalled_at is
  'Since then the node is asked to return what no request has drawn: by a notification, and with its next renewal.';

create index reserve_account on reserve (account_id);

create view idle_reserve as
  select r.account_id, l.bucket, sum(l.held - l.drawn) as amount
    from reserve r, unnest(r.allocations, r.held, r.drawn) as l (bucket, held, drawn)
   group by 1, 2;

comment on view idle_reserve is 'What is reserved and not drawn: it counts as available.';

comment on column balance_bucket.frozen is 'The sum of what open holds and reserves keep.';
comment on column balance_bucket.remaining is 'What is left, including what is frozen.';

-- A charge has no hold: it has the fields of one, and what its request has drawn from a reserve.
alter type ledger_item add attribute reserve_id text;     -- null: the free balance pays
alter type ledger_item add attribute allocations text[];
alter type ledger_item add attribute held numeric[];
alter type ledger_item add attribute amount numeric;      -- the maximum price, rounded up
alter type ledger_item add attribute max_units bigint;    -- the quantity that `amount` is for
alter type ledger_item add attribute begun_at timestamptz;
alter type ledger_item add attribute is_told boolean;     -- the reserve's row counts the draw in `drawn`
-- Of settlements: rather than record a shortfall, wait for what is only reserved.
alter type ledger_item add attribute may_wait boolean;

-- Milliseconds after which what is only reserved is free, at the latest; only of what is insufficient without it.
alter type ledger_outcome add attribute retry_ms int;

alter type ledger_resolution add attribute n int;         -- of the item
alter type ledger_resolution add attribute is_drawn boolean;
alter type ledger_resolution add attribute is_reserved boolean;  -- and the reserve has paid

-- An argument of ledger_renew_reserves.
create type reserve_request as (
  n             int,
  id            text,
  account_id    text,
  node_id       text,
  renewal       int,
  is_new        boolean,   -- the node does not know whether it exists
  is_closing    boolean,
  kind          text,
  money         numeric,   -- wanted in addition, if money pays
  units         bigint,    -- wanted in addition, if a quota pays
  worst_money   numeric,   -- the most that one request draws
  worst_units   bigint,
  lease_ms      int,
  allocations   text[],    -- with the next two: what the node keeps, and what of it is drawn
  kept          numeric[],
  drawn         numeric[]  -- null: as it is
);

-- Charges that one bucket pays, as columns.
create type charge_columns as (
  n                 int[],
  id                text[],
  account_id        text[],
  num               numeric[],
  den               numeric[],
  units             bigint[],
  usage             jsonb[],
  request_id        text[],
  client_request_id text[],
  model             text[],
  kind              text[],
  price_number      int[],     -- in `prices`, from 1
  upstream          text[],
  cost              numeric[],
  beyond_hold       boolean[],
  reserve_id        text[],
  bucket            text[],
  drawn             numeric[],
  amount            numeric[],
  max_units         bigint[],
  begun_at          timestamptz[],
  is_told           boolean[],
  may_wait          boolean[],
  prices            jsonb[],
  scale             smallint
);
