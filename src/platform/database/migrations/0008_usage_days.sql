-- What accounts used, added up by day and model: a page with a chart must not read a million receipts.
-- The sums are made afterwards, in the background, so that booking money never waits for them.

-- In the order of their end, which is the order they are added up in.
create index hold_resolved on hold (resolved_at, account_id) where resolved_at is not null;

create table usage_day (
  account_id    text not null,
  -- In UTC, by the moment the request was settled.
  day           date not null,
  model         text not null,
  calls         bigint not null,
  -- Requests whose hold was given back.
  failed        bigint not null,
  -- Money taken from gifts and cash.
  charged       numeric(32, 12) not null,
  -- Units of quota taken instead.
  quota         bigint not null,
  -- What upstreams charge us for it, as far as that is declared, and the calls for which it is not.
  cost          numeric(32, 12) not null,
  uncosted      bigint not null,
  input_tokens  bigint not null,
  output_tokens bigint not null,
  images        bigint not null,
  seconds       numeric(32, 12) not null,
  characters    bigint not null,
  primary key (account_id, day, model)
);

create index usage_day_day on usage_day (day);

-- Everything resolved before this moment is in usage_day, and nothing else is.
create table usage_mark (
  is_only boolean primary key default true check (is_only),
  through timestamptz not null
);
insert into usage_mark (through) values ('-infinity');

/* Resolved requests, each as a line that can be added up. */
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
         coalesce((h.usage ->> 'characters')::bigint, 0) as characters
    from hold h
    left join lateral (
      select sum(t) filter (where leg not like 'quota:%') as charged,
             sum(t) filter (where leg like 'quota:%') as quota
        from unnest(h.legs, h.taken) as l (leg, t)) part on true
   where h.resolved_at is not null;

/* Adds up what was resolved since the last time, about so many at the most; says whether there is more. */
create function usage_roll_up(most int) returns boolean
language plpgsql
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set jit = off
as $$
declare
  since timestamptz;
  until timestamptz;
  place timestamptz;
begin
  if not ledger_is_my_sweep('usage') then return false; end if;
  select through into strict since from usage_mark;
  -- What is resolved but not committed yet was resolved after its transaction began, and that one has
  -- locked a wallet, so it has a number: nothing can turn up later before the oldest of those.
  until := least(ledger_now() - interval '5 seconds',
                 (select min(xact_start) from pg_stat_activity
                   where datname = current_database() and backend_xid is not null));
  select resolved_at into place from hold
   where resolved_at >= since and resolved_at < until order by resolved_at offset most limit 1;
  if place = since then
    -- More of one moment than fit: take the moment whole.
    select min(resolved_at) into place from hold where resolved_at > since and resolved_at < until;
  end if;
  until := coalesce(place, until);
  if until <= since then return false; end if;

  insert into usage_day as d
  select account_id, day, model, sum(calls), sum(failed), sum(charged), sum(quota), sum(cost),
         sum(uncosted), sum(input_tokens), sum(output_tokens), sum(images), sum(seconds),
         sum(characters)
    from usage_line where resolved_at >= since and resolved_at < until
   group by account_id, day, model
  on conflict (account_id, day, model) do update
     set calls = d.calls + excluded.calls, failed = d.failed + excluded.failed,
         charged = d.charged + excluded.charged, quota = d.quota + excluded.quota,
         cost = d.cost + excluded.cost, uncosted = d.uncosted + excluded.uncosted,
         input_tokens = d.input_tokens + excluded.input_tokens,
         output_tokens = d.output_tokens + excluded.output_tokens,
         images = d.images + excluded.images, seconds = d.seconds + excluded.seconds,
         characters = d.characters + excluded.characters;
  update usage_mark set through = until;
  return place is not null;
end $$;

/* Days from one on, up to the present moment: the sums, and line by line what is not in them yet. For one
   account, or with null for all. */
create function usage_days(payer text, from_day date) returns setof usage_day
language plpgsql stable
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  since timestamptz;
begin
  -- The mark and what it divides are read from one snapshot: a stable function has its caller's.
  select through into strict since from usage_mark;
  return query
  select account_id, day, model, sum(calls)::bigint, sum(failed)::bigint, sum(charged)::numeric(32, 12),
         sum(quota)::bigint, sum(cost)::numeric(32, 12), sum(uncosted)::bigint, sum(input_tokens)::bigint,
         sum(output_tokens)::bigint, sum(images)::bigint, sum(seconds)::numeric(32, 12), sum(characters)::bigint
    from (
      select * from usage_day where (payer is null or account_id = payer) and day >= from_day
      union all
      select account_id, day, model, calls, failed, charged, quota, cost, uncosted, input_tokens,
             output_tokens, images, seconds, characters
        from usage_line
       where resolved_at >= greatest(since, from_day::timestamp at time zone 'UTC')
         and (payer is null or account_id = payer)) lines
   group by account_id, day, model
   order by day, account_id, model;
end $$;
