-- Work that outlives its request. A task is one row: what was asked, how far it is, and when somebody
-- must look at it next. Queues only ring bells; whoever hears one claims the row here, and only the
-- holder of the newest fence may change it.

create table task (
  id                text primary key,
  account_id        text not null,
  -- Of the request that made it; also names its hold.
  request_id        text not null unique,
  client_request_id text,
  idempotency_key   text,
  type              text not null,
  model             text not null,
  status            text not null default 'queued'
                    check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired')),
  progress          smallint not null default 0 check (progress between 0 and 100),
  -- What was asked for, in the gateway's own words; enough to do it after any reload.
  job               jsonb not null,
  -- Version of the declaration it was accepted under.
  declaration       text not null,
  callback_url      text,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now(),
  started_at        timestamptz,
  completed_at      timestamptz,
  -- When it ends by itself: while queued by the queue's time-to-live, then by the model's deadline.
  deadline_at       timestamptz not null,
  deadline_seconds  int not null check (deadline_seconds > 0),
  -- What came out: stored files by their place. A place that is filled is never filled again.
  outputs           jsonb not null default '[]',
  units             bigint not null default 0 check (units >= 0),
  error_code        text,
  error_message     text,
  -- Of chains: which part is at work, and what each has given.
  stage             text,
  stages            jsonb,

  -- The engine's own. submit: nobody has it. submitting: sent, and no answer known. accepted: an
  -- upstream has it under its id. copying: its results are known and not all stored.
  phase             text not null default 'submit'
                    check (phase in ('submit', 'submitting', 'accepted', 'copying')),
  provider          text,
  upstream_model    text,
  upstream_id       text,
  submitted_at      timestamptz,
  -- Upstreams that will not take it.
  tried             text[] not null default '{}',
  -- Where results lie that cannot be asked for again. Gone when the task ends.
  result            jsonb,
  cancel_asked_at   timestamptz,
  cancel_sent_at    timestamptz,
  -- Looks at an upstream so far: the pace of polling.
  looks             int not null default 0,
  -- Steps in a row that broke, and what the last one said. Too many, and the task waits for an operator.
  failures          int not null default 0,
  last_failure      text,
  dead_at           timestamptz,
  -- Null when it is over.
  wake_at           timestamptz,
  lease_until       timestamptz,
  fence             bigint not null default 0,

  check ((status in ('queued', 'running')) = (completed_at is null)),
  check ((completed_at is null) = (wake_at is not null)),
  check (phase <> 'accepted' or upstream_id is not null)
) with (fillfactor = 70);

create index task_account on task (account_id, id);
create index task_due on task (wake_at) where wake_at is not null;
create index task_dead on task (dead_at) where dead_at is not null;

-- How many tasks of an account live. Counted here and not by looking, so that it costs the same with
-- one and with ten thousand; `ledger verify` looks.
create table task_load (
  account_id text primary key,
  living     int not null check (living >= 0)
) with (fillfactor = 50);

-- Requests that may come twice: the same key finds what the first one made.
create table idempotency (
  account_id text not null,
  key        text not null check (char_length(key) between 1 and 255),
  path       text not null,
  body_hash  text not null,
  task_id    text not null,
  created_at timestamptz not null default now(),
  -- Null while the task lives.
  expires_at timestamptz,
  primary key (account_id, key)
);

create index idempotency_over on idempotency (expires_at) where expires_at is not null;

create type task_order as (
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
  declaration       text,
  callback_url      text,
  stages            jsonb,
  queue_seconds     int,
  deadline_seconds  int,
  living_max        int,
  -- An item of ledger_batch.
  hold              json
);

/* Accepts many requests at once: each is written whole (key, count, hold and task) or not at all.
   Outcomes: created, replayed (task_id is the first one's), reused, crowded, insufficient.
   Keys first and then counts and then wallets, each in order: two calls cannot wait for each other. */
create function task_create(doc json, out n int, out outcome text, out task_id text,
                            out created_at timestamptz, out deadline_at timestamptz,
                            out legs text[], out held numeric[])
returns setof record
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  orders  task_order[];
  o       task_order;
  taken   task_order[] := '{}';
  holds   json;
  refused jsonb;
  seen    idempotency;
begin
  orders := array(select i from json_populate_recordset(null::task_order, doc) i order by i.account_id, i.key);

  foreach o in array orders loop
    if o.key is not null then
      insert into idempotency as r (account_id, key, path, body_hash, task_id)
      values (o.account_id, o.key, o.path, o.body_hash, o.id)
      on conflict (account_id, key) do update
        set path = excluded.path, body_hash = excluded.body_hash, task_id = excluded.task_id,
            created_at = now(), expires_at = null
        where r.expires_at <= now();
      if not found then
        select * into seen from idempotency r where r.account_id = o.account_id and r.key = o.key;
        if seen is null then
          raise exception 'The key was given up while we looked' using errcode = 'serialization_failure';
        end if;
        n := o.n;
        outcome := case when (seen.path, seen.body_hash) = (o.path, o.body_hash) then 'replayed' else 'reused' end;
        task_id := seen.task_id;
        return next;
        continue;
      end if;
    end if;
    taken := taken || o;
  end loop;
  orders := taken;
  taken := '{}';

  foreach o in array orders loop
    insert into task_load as l (account_id, living) select o.account_id, 1 where o.living_max > 0
    on conflict (account_id) do update set living = l.living + 1 where l.living < o.living_max;
    if found then
      taken := taken || o;
    else
      if o.key is not null then
        delete from idempotency r where r.account_id = o.account_id and r.key = o.key;
      end if;
      n := o.n;
      outcome := 'crowded';
      task_id := null;
      return next;
    end if;
  end loop;
  if cardinality(taken) = 0 then return; end if;

  select json_agg(t.hold) into holds from unnest(taken) t;
  select coalesce(jsonb_object_agg(b.id, b.outcome), '{}') into refused
    from ledger_batch(holds) b where b.outcome not in ('held', 'already');
  foreach o in array taken loop
    if refused ? o.request_id then
      update task_load l set living = l.living - 1 where l.account_id = o.account_id;
      if o.key is not null then
        delete from idempotency r where r.account_id = o.account_id and r.key = o.key;
      end if;
      n := o.n;
      outcome := refused ->> o.request_id;
      task_id := null;
      return next;
    end if;
  end loop;
  return query
    with made as (
      insert into task as k (id, account_id, request_id, client_request_id, idempotency_key, type, model,
                             job, declaration, callback_url, stages, deadline_at, deadline_seconds, wake_at)
      select t.id, t.account_id, t.request_id, t.client_request_id, t.key, t.type, t.model, t.job,
             t.declaration, t.callback_url, t.stages, now() + make_interval(secs => t.queue_seconds),
             t.deadline_seconds, now()
        from unnest(taken) t where not refused ? t.request_id
      returning k.id, k.request_id, k.created_at, k.deadline_at)
    select t.n, 'created', m.id, m.created_at, m.deadline_at, h.legs, h.held::numeric[]
      from made m join unnest(taken) t on t.id = m.id join hold h on h.id = m.request_id;
end $$;
