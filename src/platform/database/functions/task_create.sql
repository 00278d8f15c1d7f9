-- Accepts many requests at once: each is written completely (idempotency key, count, hold and task) or not at all.
-- Outcomes: created, replayed (task_id is the first request's), reused, at_capacity, insufficient (with
-- retry_ms where what is only reserved would be enough: see ledger_outcome).
-- Locks keys, then counts, then wallets, each in order, so that two calls cannot wait for each other.
create or replace function task_create(doc json, out n int, out outcome text, out task_id text,
                            out created_at timestamptz, out deadline_at timestamptz,
                            out allocations text[], out held numeric[], out held_at timestamptz,
                            out retry_ms int)
returns setof record
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  orders  new_task[];
  o       new_task;
  taken   new_task[] := '{}';
  holds   json;
  refused jsonb;
  seen    idempotency;
begin
  orders := array(select i from json_populate_recordset(null::new_task, doc) i order by i.account_id, i.key);

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
    insert into task_load as l (account_id, active) select o.account_id, 1 where o.max_active > 0
    on conflict (account_id) do update set active = l.active + 1 where l.active < o.max_active;
    if found then
      taken := taken || o;
    else
      if o.key is not null then
        delete from idempotency r where r.account_id = o.account_id and r.key = o.key;
      end if;
      n := o.n;
      outcome := 'at_capacity';
      task_id := null;
      return next;
    end if;
  end loop;
  if cardinality(taken) = 0 then return; end if;

  select json_agg(t.hold) into holds from unnest(taken) t;
  select coalesce(jsonb_object_agg(b.id, b), '{}') into refused
    from ledger_batch(holds) b where b.outcome not in ('held', 'already');
  foreach o in array taken loop
    if refused ? o.request_id then
      update task_load l set active = l.active - 1 where l.account_id = o.account_id;
      if o.key is not null then
        delete from idempotency r where r.account_id = o.account_id and r.key = o.key;
      end if;
      n := o.n;
      outcome := refused -> o.request_id ->> 'outcome';
      retry_ms := refused -> o.request_id ->> 'retry_ms';
      task_id := null;
      return next;
    end if;
  end loop;
  return query
    with made as (
      insert into task as k (id, account_id, request_id, client_request_id, idempotency_key, type, model,
                             job, config_version, callback_url, stages, deadline_at, deadline_seconds, wake_at)
      select t.id, t.account_id, t.request_id, t.client_request_id, t.key, t.type, t.model, t.job,
             t.config_version, t.callback_url, t.stages, now() + make_interval(secs => t.queue_seconds),
             t.deadline_seconds, now()
        from unnest(taken) t where not refused ? t.request_id
      returning k.id, k.request_id, k.created_at, k.deadline_at)
    select t.n, 'created', m.id, m.created_at, m.deadline_at, h.allocations, h.held::numeric[], h.created_at, null::int
      from made m join unnest(taken) t on t.id = m.id join hold h on h.id = m.request_id;
end $$;
