-- What grows with every request has a bound. Webhook events, deliveries and attempts are partitioned by month, as
-- receipts and transfers are. A month of money can be archived: its rows are folded into totals and leave the database.
-- The comment of every table says what bounds it.

drop function if exists partition_create;
drop function if exists ledger_create_partitions;

-- ------------------------------------------------------------
-- Partitions have one kind of name: request_2026_11_16, receipt_2026_11.

do $$
declare
  part text;
begin
  for part in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'request'::regclass and c.relname ~ '^request_\d{8}$'
  loop
    execute format('alter table %I rename to %I', part,
                   regexp_replace(part, '(\d{4})(\d\d)(\d\d)$', '\1_\2_\3'));
  end loop;
end $$;

-- ------------------------------------------------------------
-- Webhooks
-- No foreign keys: a month is dropped as a whole, and its rows refer to rows of the same month. Accounts stay, and
-- endpoints stay as long as there are deliveries to them.

alter table webhook_event rename to webhook_event_before;
alter table webhook_delivery rename to webhook_delivery_before;
alter table webhook_attempt rename to webhook_attempt_before;
alter table webhook_event_before rename constraint webhook_event_pkey to webhook_event_before_pkey;
alter table webhook_delivery_before rename constraint webhook_delivery_pkey to webhook_delivery_before_pkey;
alter table webhook_attempt_before rename constraint webhook_attempt_pkey to webhook_attempt_before_pkey;
drop index webhook_delivery_target, webhook_delivery_account, webhook_delivery_due, webhook_delivery_destination;

create table webhook_event (
  id         text collate "C" not null,
  account_id text not null,
  task_id    text,
  type       text not null,
  data       text not null,
  created_at timestamptz not null default now(),
  primary key (id)
) partition by range (id);

comment on table webhook_event is
  'Events of tasks and tests. Partitioned by the month that the id begins with, as the deliveries are.';
comment on column webhook_event.task_id is
  'One event per task: the transaction that ends the task writes it. Null for a test event.';
comment on column webhook_event.data is
  'The payload''s `data` as JSON text, byte for byte: every attempt signs the same bytes.';

create index webhook_event_task on webhook_event (task_id) where task_id is not null;
create table webhook_event_default partition of webhook_event default;

create table webhook_delivery (
  id                         text collate "C" not null,
  event_id                   text not null,
  account_id                 text not null,
  endpoint_id                text,
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
  primary key (id),
  check ((state = 'pending') = (wake_at is not null)),
  check ((state = 'pending') = (ended_at is null)),
  check ((state = 'failed') = (reason is not null)),
  check (lease_until is null or state = 'pending')
) partition by range (id);

comment on table webhook_delivery is 'Delivery of an event to one receiver.';
comment on column webhook_delivery.id is
  'The event''s id with another prefix, and a number for each receiver: one delivery per event and receiver.';
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

create index webhook_delivery_event on webhook_delivery (event_id);
create index webhook_delivery_account on webhook_delivery (account_id, id);
create index webhook_delivery_due on webhook_delivery (wake_at) where wake_at is not null;
create index webhook_delivery_destination on webhook_delivery (destination, wake_at) where wake_at is not null;
create table webhook_delivery_default partition of webhook_delivery default;

create table webhook_attempt (
  delivery_id text collate "C" not null,
  number      int not null,
  started_at  timestamptz not null,
  latency_ms  int not null,
  status      int,
  error       text,
  response    text,
  primary key (delivery_id, number)
) partition by range (delivery_id);

comment on table webhook_attempt is 'Attempts of a delivery.';
comment on column webhook_attempt.status is 'HTTP status. Null: no response; then `error` says why.';
comment on column webhook_attempt.response is 'The first 4 KB of the response.';

create table webhook_attempt_default partition of webhook_attempt default;

insert into webhook_event select id, account_id, task_id, type, data, created_at from webhook_event_before;
insert into webhook_delivery
select id, event_id, account_id, endpoint_id, url, destination, state, reason, attempts, attempts_before_redelivery,
       is_test, wake_at, lease_until, fence, last_status, last_error, created_at, ended_at
  from webhook_delivery_before;
insert into webhook_attempt
select delivery_id, number, started_at, latency_ms, status, error, response from webhook_attempt_before;
drop table webhook_attempt_before, webhook_delivery_before, webhook_event_before;

-- ------------------------------------------------------------
-- Archived months
-- Money is kept for ever: as rows, or as totals here and rows in the file store.

create table archive_month (
  month         date primary key check (extract(day from month) = 1),
  fence         int not null default 0,
  claimed_until timestamptz,
  archived_at   timestamptz
);

comment on table archive_month is
  'Months (UTC) whose receipts and transfers are archived, or are about to be. Months are archived in order.';
comment on column archive_month.fence is 'Fencing token: raised by each claim, and part of the names of its files.';
comment on column archive_month.claimed_until is 'Until then one node works on it.';
comment on column archive_month.archived_at is
  'When the rows were folded into totals and dropped, in one transaction. Null: they are still there.';

create table archive_file (
  month      date not null references archive_month,
  table_name text not null check (table_name in ('receipt', 'receipt_correction', 'transfer')),
  store      text not null check (store in ('local', 's3')),
  key        text not null,
  rows       bigint,
  amount     numeric,
  bytes      bigint,
  sha256     text check (sha256 ~ '^[0-9a-f]{64}$'),
  written_at timestamptz,
  primary key (month, table_name)
);

comment on table archive_file is
  'The rows of an archived month in the file store: compressed CSV, in the order of the primary key.';
comment on column archive_file.key is 'Its name in the store. Recorded before it is written, so that no file is without a row.';
comment on column archive_file.rows is 'Null until all rows were written.';
comment on column archive_file.amount is
  'What must be equal in the file, in the totals and in the rows until they were dropped: the sum of `taken` of '
  'receipts; of corrections what they take more than the receipts they replace; the sum of all transfers, of any unit.';
comment on column archive_file.sha256 is 'Of the compressed bytes.';

create table receipt_total (
  month         date not null,
  account_id    text not null,
  model         text not null,
  upstream      text,
  receipts      bigint not null,
  settled       bigint not null,
  cash          numeric(32, 12) not null,
  gift          numeric(32, 12) not null,
  quota         bigint not null,
  shortfall     numeric(32, 12) not null,
  cost          numeric(32, 12) not null,
  uncosted      bigint not null,
  input_tokens  bigint not null,
  output_tokens bigint not null,
  images        bigint not null,
  seconds       numeric(32, 12) not null,
  characters    bigint not null,
  unique nulls not distinct (month, account_id, model, upstream)
);

comment on table receipt_total is
  'Receipts of archived months, in their final form, summed by account, model and upstream.';
comment on column receipt_total.month is 'The month (UTC) in which the requests were accepted.';
comment on column receipt_total.upstream is 'provider/model that answered. Null: none did.';
comment on column receipt_total.receipts is 'All receipts, those of requests that cost nothing too.';
comment on column receipt_total.cost is 'What upstreams charge, as far as the configuration said.';
comment on column receipt_total.uncosted is 'Settled requests whose upstream cost was not configured.';

create table transfer_total (
  month      date not null,
  account_id text not null,
  unit       text not null,
  debit      text not null,
  credit     text not null,
  kind       text not null,
  transfers  bigint not null,
  amount     numeric not null check (amount > 0),
  primary key (month, account_id, unit, debit, credit, kind)
);

comment on table transfer_total is
  'Transfers of archived months, summed. With the transfers that are still there they make up every balance.';

create index transfer_total_account on transfer_total (account_id, month);

create table archived_reference (
  id     text primary key,
  debit  text not null,
  credit text not null,
  amount numeric(32, 12) not null
);

comment on table archived_reference is
  'Credits and adjustments of archived months: the same reference is booked once, however long ago it was.';
comment on column archived_reference.id is 'The id of the transfer.';

create table archive_remainder (
  rule    text not null check (rule in ('capture', 'shortfall')),
  subject text not null,
  bucket  text not null,
  amount  numeric not null,
  primary key (rule, subject, bucket)
);

comment on table archive_remainder is
  'What archived receipts say less what archived transfers say, where it is not zero: a request that was accepted in '
  'one month and resolved in the next has its receipt and its transfers in different months. `ledger verify` counts it '
  'with the rows that are still there.';
comment on column archive_remainder.rule is 'capture: of a batch and a bucket. shortfall: of a request.';
comment on column archive_remainder.subject is 'The batch, or the id of the request.';

create view booking as
  select account_id, unit, debit, credit, amount from transfer
  union all
  select account_id, unit, debit, credit, amount from transfer_total;

comment on view booking is 'All that was ever booked: transfers, and the totals of those that were archived.';

create or replace view usage_line as
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
         r.id as receipt_id,
         coalesce(part.gift, 0) as gift,
         r.shortfall,
         r.upstream
    from final_receipt r
    left join lateral (
      select sum(t) filter (where bucket not like 'quota:%') as charged,
             sum(t) filter (where bucket like 'quota:%') as quota,
             sum(t) filter (where bucket like 'gift:%') as gift
        from unnest(r.allocations, r.taken) as l (bucket, t)) part on true;

comment on table usage_day is
  'Usage per account, day and model, so that charts need not read all receipts. The days of an archived month are one '
  'row, under its first day.';

-- ------------------------------------------------------------
-- What bounds each table

do $$
declare
  bounded record;
begin
  for bounded in
    select * from (values
      ('account', 'Customers: one row each, which stays when the account is closed.'),
      ('api_key', 'Keys that people made: requests add none.'),
      ('person', 'People who signed up. Deleted with the person.'),
      ('person_identity', 'Sign-in providers of each person. Deleted with the person.'),
      ('session', 'Sessions that have not ended. Ended ones are deleted every hour.'),
      ('browser_grant', 'A minute. Older ones are deleted every minute.'),
      ('session_stash', 'A few minutes. Older ones are deleted every minute.'),
      ('welcome_credit', 'People who signed up: one row for each address.'),
      ('welcome_credit_network', 'Two days. Older ones are deleted with the next one.'),
      ('welcome_credit_secret', 'One row.'),
      ('throttle', 'Subjects of the last minutes. Others are deleted every ten minutes.'),
      ('rate_bucket', 'Keys of the last minutes. Others are deleted every minute.'),
      ('change', '400 days. Older ones are deleted every hour.'),
      ('node', 'Running nodes. Those not seen for a day are deleted at the next start.'),
      ('config_activation', 'Versions of the last 400 days, and those that nodes serve.'),
      ('config_version', 'Versions that active tasks need, and the newest 20.'),
      ('ledger_currency', 'One row.'),
      ('wallet', 'One row for each account.'),
      ('balance_bucket', 'For each account one for cash and one for each credit; quotas as long as their transfers.'),
      ('plan_quota', 'One row for each plan that was ever configured.'),
      ('plan_term', 'The current plan of each account, and earlier ones as long as their transfers.'),
      ('hold', 'Requests under way.'),
      ('reserve', 'A few seconds after the last request of an account: a few rows for each node.'),
      ('receipt', '`storage.keep.money_months`, for ever without it. A month is archived and dropped.'),
      ('receipt_correction', 'As receipts. Deleted when their month is archived.'),
      ('transfer', '`storage.keep.money_months`, for ever without it. A month is archived and dropped.'),
      ('usage_day', 'Days on which an account used a model; of archived months one row for the month.'),
      ('usage_watermark', 'One row.'),
      ('task', '`storage.keep.task_days` after the end of the task.'),
      ('task_load', 'One row for each account.'),
      ('idempotency', 'Unfinished tasks, and keys that have not expired. Others are deleted every few seconds.'),
      ('file', '`storage.uploads.keep_days` and `storage.outputs.keep_days`.'),
      ('content_secret', 'Secrets whose URLs are valid. Older ones are deleted.'),
      ('webhook_endpoint', '16 for each account; deleted ones as long as there are deliveries to them.'),
      ('webhook_secret', 'Two for each endpoint. Expired ones are deleted after a day.'),
      ('webhook_event', '`storage.keep.webhook_days`, then until the end of the month: a month is dropped.'),
      ('webhook_delivery', '`storage.keep.webhook_days`, then until the end of the month: a month is dropped.'),
      ('webhook_attempt', '`storage.keep.webhook_days`, then until the end of the month: a month is dropped.'),
      ('request', '`logs.keep_days`. A day is dropped.'),
      ('archive_month', 'One row for each archived month.'),
      ('archive_file', 'Three rows for each archived month.'),
      ('receipt_total', 'Accounts, models and upstreams with requests in an archived month.'),
      ('transfer_total', 'Accounts with transfers in an archived month: a few rows each.'),
      ('archived_reference', 'Credits and adjustments that people made: requests add none.'),
      ('archive_remainder', 'Requests under way at the end of a month. Deleted with the next archived month.')
    ) b (name, bound)
  loop
    execute format('comment on table %I is %L', bounded.name,
                   obj_description(bounded.name::regclass, 'pg_class') || E'\nBound: ' || bounded.bound);
  end loop;
end $$;
