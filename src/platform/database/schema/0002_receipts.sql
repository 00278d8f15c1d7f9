-- Receipts leave the table of holds: `hold` keeps what is reserved now, `receipt` what was charged, for ever and
-- unchanged. Receipts and transfers are partitioned by month. Holds that are resolved already become receipts.

drop view usage_line;
drop function if exists ledger_write_holds;
drop function if exists ledger_settle_mixed;
drop function if exists usage_remove;

create table receipt (
  id                text collate "C" not null,
  account_id        text not null,
  request_id        text not null,
  client_request_id text,
  model             text not null,
  kind              text check (kind in ('text', 'image', 'video')),
  state             text not null check (state in ('settled', 'released', 'expired')),
  scale             smallint not null check (scale between 0 and 12),
  amount            numeric(32, 12) not null check (amount >= 0),
  units             bigint not null check (units >= 0),
  allocations       text[] not null,
  held              numeric(32, 12)[] not null check (cardinality(held) = cardinality(allocations)),
  taken             numeric(32, 12)[] not null check (cardinality(taken) = cardinality(allocations)),
  shortfall         numeric(32, 12) not null check (shortfall >= 0),
  beyond_hold       boolean not null,
  price             jsonb not null,
  usage             jsonb,
  checkpoint        jsonb,
  upstream          text,
  cost              numeric(32, 12) check (cost >= 0),
  created_at        timestamptz not null,
  resolved_at       timestamptz not null,
  ended_by          text check (ended_by in ('sweeper', 'late')),
  batch             uuid not null,
  primary key (id),
  constraint receipt_reserves_no_debt check (0 <= all (held)),
  constraint receipt_takes_no_debt check (0 <= all (taken))
) partition by range (id);

comment on table receipt is
  'What a priced request cost and what paid for it, written once when its hold is resolved. Append-only, enforced by '
  'a trigger. Partitioned by the month that the id begins with; ids sort by time. No foreign keys here and in '
  '`transfer`: the functions lock the account''s wallet, which proves that the account exists.';
comment on column receipt.kind is 'The unit of quota that could pay.';
comment on column receipt.scale is 'Decimals of the currency when the request was accepted.';
comment on column receipt.amount is 'The maximum price, rounded up.';
comment on column receipt.units is 'The quantity that `amount` is for.';
comment on column receipt.allocations is 'Ids of the rows of `balance_bucket` that paid, in the order of use.';
comment on column receipt.held is 'The amount that was reserved in each of them. Zero: it paid beyond the hold.';
comment on column receipt.taken is 'The amount taken from each of them.';
comment on column receipt.shortfall is 'The part of the price that the account could not pay.';
comment on column receipt.beyond_hold is
  'The settlement could take more than was held: the upstream''s report counts, not the estimate.';
comment on column receipt.price is 'Snapshot of the price.';
comment on column receipt.checkpoint is
  'Usage and price that a sweeper settled by. Null if the request''s own process resolved it.';
comment on column receipt.upstream is 'provider/model that answered.';
comment on column receipt.cost is
  'What the upstream charges for it, in the gateway''s currency. Null: the configuration does not say.';
comment on column receipt.created_at is 'When the request was accepted.';
comment on column receipt.ended_by is
  'Null: resolved by its own process. sweeper: resolved by a sweeper, a settlement may still correct it. '
  'late: by such a settlement, final.';
comment on column receipt.batch is 'Receipts of one batch share its capture transfers, one for each bucket.';

create index receipt_account on receipt (account_id, created_at, id);
create index receipt_resolved on receipt (resolved_at, account_id);
create index receipt_shortfall on receipt (account_id, resolved_at) where shortfall > 0;

create table receipt_default partition of receipt default;

comment on table receipt_default is
  'Receipts of a month that has no partition yet. They move to it at the next start.';

-- Rare, so not partitioned, and cheap to look up for every receipt.
create table receipt_correction (like receipt including all);

comment on table receipt_correction is
  'Replaces the receipt of the same id: settlements that came after a sweeper had resolved the hold. Append-only, '
  'enforced by a trigger.';

insert into receipt
select id, account_id, request_id, client_request_id, model, kind, state, scale, amount, units, allocations, held,
       taken, shortfall, beyond_hold, price, usage, case ended_by when 'sweeper' then checkpoint end, upstream, cost,
       created_at, resolved_at, ended_by, md5(id)::uuid
  from hold where state <> 'open';

delete from hold where state <> 'open';
drop index hold_account, hold_open, hold_resolved, hold_shortfall;
alter table hold drop column state, drop column taken, drop column shortfall, drop column usage, drop column upstream,
  drop column cost, drop column resolved_at, drop column ended_by;
create index hold_account on hold (account_id, created_at, id);
create index hold_expiry on hold (expires_at);

comment on table hold is
  'Reservations of priced requests under way. A resolved one is deleted; its receipt has the same id.';

alter table transfer rename to transfer_before;
alter table transfer_before rename constraint transfer_pkey to transfer_before_pkey;
drop index transfer_account;

create table transfer (
  id         text not null,
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
  created_at timestamptz not null,
  batch      uuid,
  primary key (id, created_at)
) partition by range (created_at);

comment on table transfer is
  'Double entry: an amount leaves one ledger account and enters another. Append-only, enforced by a '
  'trigger; partitioned by month. The system''s own accounts (topup, gift_expense, revenue, breakage, shortfall, '
  'adjustment, quota_grant, quota_used, quota_breakage) have no rows that every booking would have to lock: their '
  'balances are sums over this table.';
comment on column transfer.id is 'Derived from what is booked, so that repeating a booking books once.';
comment on column transfer.hold_id is
  'The request that it is for. Null for captures of a batch: the receipts of the batch say what each request paid.';
comment on column transfer.reference is
  'The caller''s own id of a credit or adjustment; the plan of a grant.';
comment on column transfer.batch is 'The batch of receipts that it belongs to.';

create index transfer_account on transfer (account_id, created_at, id);

create table transfer_default partition of transfer default;

comment on table transfer_default is
  'Transfers of a month that has no partition yet. They move to it at the next start.';

insert into transfer
select id, unit, debit, credit, amount, account_id, hold_id, kind, reference, reason, created_at,
       case when hold_id is not null then md5(hold_id)::uuid end
  from transfer_before;
drop table transfer_before;
drop function if exists transfer_reject_change;

-- What ledger_batch found out about a hold that it resolves.
create type ledger_resolution as (
  id text, state text, allocations text[], held numeric[], taken numeric[], shortfall numeric, usage jsonb,
  checkpoint jsonb, upstream text, cost numeric, ended_by text
);

create view final_receipt as
  select r.* from receipt r where not exists (select from receipt_correction c where c.id = r.id)
  union all
  select * from receipt_correction;

comment on view final_receipt is 'Receipts, with those that were corrected in their corrected form.';

create view usage_line as
  select r.account_id, r.resolved_at, (r.resolved_at at time zone 'UTC')::date as day, r.model,
         (r.state = 'settled')::int as calls,
         (r.state <> 'settled')::int as failed,
         coalesce(part.charged, 0) as charged,
         coalesce(part.quota, 0)::bigint as quota,
         coalesce(r.cost, 0) as cost,
         (r.state = 'settled' and r.cost is null)::int as uncosted,
         coalesce((r.usage ->> 'input_tokens')::bigint, 0)
           + coalesce((r.usage ->> 'cached_input_tokens')::bigint, 0) as input_tokens,
         coalesce((r.usage ->> 'output_tokens')::bigint, 0)
           + coalesce((r.usage ->> 'reasoning_tokens')::bigint, 0) as output_tokens,
         coalesce((r.usage ->> 'images')::bigint, 0) as images,
         coalesce((r.usage ->> 'seconds')::numeric, 0) as seconds,
         coalesce((r.usage ->> 'characters')::bigint, 0) as characters,
         r.id as receipt_id
    from final_receipt r
    left join lateral (
      select sum(t) filter (where bucket not like 'quota:%') as charged,
             sum(t) filter (where bucket like 'quota:%') as quota
        from unnest(r.allocations, r.taken) as l (bucket, t)) part on true;

comment on view usage_line is 'Receipts, each as one line of usage_day.';

create view movement as
  select t.account_id, t.created_at, coalesce(line.id, t.id) as id, t.kind, t.unit, t.debit, t.credit,
         coalesce(line.amount, t.amount) as amount, coalesce(line.receipt_id, t.hold_id) as request_id,
         coalesce(line.model, r.model) as model, t.reference, t.reason
    from transfer t
    left join lateral (
      select b.id as receipt_id, b.id || '/' || l.slot as id, l.taken as amount, b.model
        from receipt b, unnest(b.allocations, b.taken) with ordinality as l (bucket, taken, slot)
       where t.kind = 'capture' and t.hold_id is null and b.resolved_at = t.created_at
         and b.account_id = t.account_id and b.batch = t.batch and l.bucket = t.debit and l.taken > 0) line on true
    left join receipt r on r.id = t.hold_id;

comment on view movement is
  'Transfers as a customer sees them: the captures of a batch request by request.';
