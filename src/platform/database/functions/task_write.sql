-- Accepts requests as tasks (`create`, of new_task) and ends tasks (`end`), many at once: each completely or not at all.
--
-- A request becomes its idempotency key, count, hold and task. Outcomes: created, replayed (task_id is the first
-- request's), reused, at_capacity, insufficient (with retry_ms where what is only reserved would be enough: see
-- ledger_outcome), over_budget (with budget_left), unknown, conflict.
--
-- A request in the background becomes its `response` too.
--
-- The end of a task is its status and results, the life of its key, the count, event and deliveries, the end of its
-- response (`response` is its new body; null keeps the one that it has), and the settlement of its hold (`charge`; null
-- releases it): the columns from `id` on are those of ledger_outcome. With a `fence` an item
-- may end the task while that is the newest; without, `is_unsent` ends it only while no upstream can have it. An item
-- that may not end its task, or whose task has ended, changes nothing and has no row in the answer. A subtask has no
-- key, no count, no event and no hold.
--
-- Locks tasks, keys, counts, then wallets, each in order, so that two calls cannot wait for each other. Wallets last:
-- from there on other transactions of the accounts wait.
create or replace function task_write(doc json, out n int, out outcome text, out task_id text,
                            out created_at timestamptz, out deadline_at timestamptz, out held_at timestamptz,
                            out parent_id text, out deliveries text[], out id text, out state text,
                            out allocations text[], out held numeric[], out taken numeric[], out shortfall numeric,
                            out account_id text, out retry_ms int, out budget_left numeric)
returns setof record
language plpgsql
-- The tables grow from nothing to millions of rows between two updates of their statistics; the queries
-- here always read a handful of rows by key.
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  ids       text[] := array(select e ->> 'id' from json_array_elements(doc -> 'end') e);
  ends      jsonb := '{}'; -- items by task
  ended     task[] := '{}';
  orders    new_task[] := array(
    select i from json_populate_recordset(null::new_task, doc -> 'create') i order by i.account_id, i.key);
  accepted  new_task[] := '{}';
  o         new_task;
  seen      idempotency;
  load      record;
  counts    jsonb := '{}'; -- active tasks by account
  made      jsonb := '{}'; -- ids of deliveries by task
  items     jsonb; -- ledger items by hold
  outcomes  ledger_outcome[] := '{}';
  refused   jsonb; -- outcomes of holds that were not made
begin
  -- Tasks that end.
  if cardinality(ids) > 0 then
    select jsonb_object_agg(e ->> 'id', e) into ends from json_array_elements(doc -> 'end') e;
    perform from task where id = any (ids) order by id for no key update;
    with gone as (
      update task t
         set status = c.status, outputs = c.outputs, units = c.units,
             progress = case when c.status = 'succeeded' then 100 else t.progress end,
             error_code = c.error_code, error_message = c.error_message,
             started_at = coalesce(t.started_at, t.submitted_at), completed_at = now(),
             stage = coalesce(c.stage, t.stage), stages = coalesce(c.stages, t.stages),
             usage = case when t.parent_id is not null then c.usage end,
             cost = case when t.parent_id is not null then c.cost end,
             provider = coalesce(c.provider, t.provider),
             upstream_model = coalesce(c.upstream_model, t.upstream_model),
             updated_at = now(), wake_at = null, lease_until = null, dead_at = null, result = null, fence = t.fence + 1
        from json_to_recordset(doc -> 'end')
          as c (id text, fence bigint, is_unsent boolean, status text, outputs jsonb, units bigint,
                error_code text, error_message text, stage text, stages jsonb, usage jsonb,
                cost numeric, provider text, upstream_model text)
       where t.id = c.id and t.id = any (ids) and t.completed_at is null
         and case when c.fence is not null then t.fence = c.fence else not c.is_unsent or t.phase = 'submit' end
      returning t)
    select coalesce(array_agg(t), '{}') into ended from gone;
  end if;

  -- Background responses. A subtask of a drama may be of type chat too, and has none.
  if exists (select from unnest(ended) where type = 'chat' and parent_id is null) then
    update response r
       set task_status = e.status, error_code = e.error_code, error_message = e.error_message,
           body = coalesce(ends -> e.id ->> 'response', r.body)
      from unnest(ended) e
     where r.task_id = e.id
       and r.id = any (array(select 'resp_' || substr(request_id, 5) from unnest(ended)
                              where type = 'chat' and parent_id is null));
  end if;

  -- Keys.
  if exists (select from unnest(ended) where idempotency_key is not null) then
    perform from idempotency i join unnest(ended) e on i.account_id = e.account_id and i.key = e.idempotency_key
      where i.account_id = any (array(select account_id from unnest(ended)))
        and i.key = any (array(select idempotency_key from unnest(ended)))
      order by i.account_id, i.key for no key update of i;
    update idempotency i set expires_at = now() + interval '24 hours'
      from unnest(ended) e
     where i.account_id = e.account_id and i.key = e.idempotency_key and i.task_id = e.id
       and i.account_id = any (array(select account_id from unnest(ended)))
       and i.key = any (array(select idempotency_key from unnest(ended)));
  end if;
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
    accepted := accepted || o;
  end loop;
  orders := accepted;
  accepted := '{}';

  -- Counts. They are written at the end; until then their rows are locked.
  for load in
    select l.account_id, l.active - (select count(*) from unnest(ended) e
                                      where e.account_id = l.account_id and e.parent_id is null) as active
      from task_load l
     where l.account_id = any (array(select account_id from unnest(orders)
                                      union all select account_id from unnest(ended) where parent_id is null))
     order by l.account_id for no key update
  loop
    counts := counts || jsonb_build_object(load.account_id, load.active);
  end loop;
  for load in
    select distinct account_id from unnest(orders) where max_active > 0 and not counts ? account_id order by account_id
  loop
    -- The first task of an account. Another call may have made the row meanwhile.
    insert into task_load as l (account_id, active) values (load.account_id, 0)
    on conflict (account_id) do update set active = l.active
    returning l.* into load;
    counts := counts || jsonb_build_object(load.account_id, load.active);
  end loop;
  foreach o in array orders loop
    if coalesce((counts ->> o.account_id)::int, 0) < o.max_active then
      counts := counts || jsonb_build_object(o.account_id, (counts ->> o.account_id)::int + 1);
      accepted := accepted || o;
    else
      delete from idempotency r where r.account_id = o.account_id and r.key = o.key;
      n := o.n;
      outcome := 'at_capacity';
      task_id := null;
      return next;
    end if;
  end loop;

  if exists (select from unnest(ended) where parent_id is null) then
    select coalesce(jsonb_object_agg(d.task_id, d.ids), '{}') into made
      from (select task_id, array_agg(delivery_id) as ids
              from webhook_enqueue((
                select json_agg((ends -> id -> 'event')
                                || jsonb_build_object('account_id', account_id, 'task_id', id, 'url', callback_url))
                  from unnest(ended) where parent_id is null))
             group by task_id) d;
  end if;

  if exists (select from unnest(ended) where jsonb_typeof(ends -> id -> 'parts') = 'array') then
    insert into receipt_part (receipt_id, position, stage, model, upstream, amount, cost)
    select e.request_id, p.ordinality, p.stage, p.model, p.upstream, p.amount, p.cost
      from unnest(ended) e,
           rows from (jsonb_to_recordset(ends -> e.id -> 'parts')
             as (stage text, model text, upstream text, amount numeric, cost numeric)) with ordinality as p
     where e.parent_id is null and jsonb_typeof(ends -> e.id -> 'parts') = 'array';
  end if;

  -- A drama that is not charged has cost what its subtasks did.
  if exists (select from unnest(ended) where phase = 'pipeline' and ends -> id ->> 'parts' is null) then
    with made as (
      select e.request_id as receipt_id, e.model as drama, t.id, t.parent_id, t.subtask, t.model,
             t.provider || '/' || t.upstream_model as upstream, t.cost
        from unnest(ended) e join task t on t.parent_id = e.id
       where t.parent_id = any (array(select id from unnest(ended) where phase = 'pipeline'))
         and t.usage is not null and ends -> e.id ->> 'parts' is null)
    insert into receipt_part (receipt_id, position, stage, model, upstream, amount, cost)
    select receipt_id, row_number() over (partition by parent_id order by id),
           replace(split_part(subtask, '/', 1), 'speech', 'video'), model, upstream, 0, cost
      from made
    union all
    select distinct receipt_id, 0, 'drama', drama, null, 0, 0 from made;
  end if;

  -- Money: what ends pays first.
  select jsonb_object_agg(request_id, item) into items
    from (select request_id, jsonb_build_object('n', ends -> id -> 'n', 'id', request_id, 'account_id', account_id)
                   || coalesce(jsonb_build_object('op', 'settle') || nullif(ends -> id -> 'charge', 'null'),
                               jsonb_build_object('op', 'release')) as item
            from unnest(ended) where parent_id is null
           union all
          select request_id, hold::jsonb from unnest(accepted)) i;
  if items is not null then
    outcomes := array(select b from ledger_run((select json_agg(value) from jsonb_each(items))) b);
    -- A hold that a sweeper has resolved is settled all the same.
    if cardinality(ended) > 0 and exists (select from unnest(outcomes) where outcome = 'already' and state <> 'released') then
      outcomes := array(
        select case when b.outcome = 'already' and b.state <> 'released' and items -> b.id ->> 'op' = 'settle'
                 then (select l from ledger_settle_late((items -> b.id)::json) l) else b end
          from unnest(outcomes) b);
    end if;
  end if;
  -- A task without its hold must not end: the caller tries the others without it.
  if cardinality(ended) > 0 and exists (select from unnest(ended) e left join unnest(outcomes) b on b.id = e.request_id
              where e.parent_id is null and b.outcome is distinct from 'resolved'
                and b.outcome is distinct from 'already') then
    raise exception 'A task that ends has no hold';
  end if;
  if cardinality(accepted) > 0 then
    select coalesce(jsonb_object_agg(b.id, b), '{}') into refused
      from unnest(outcomes) b where items -> b.id ->> 'op' = 'hold' and b.outcome not in ('held', 'already');
  end if;
  foreach o in array accepted loop
    if refused ? o.request_id then
      counts := counts || jsonb_build_object(o.account_id, (counts ->> o.account_id)::int - 1);
      delete from idempotency r where r.account_id = o.account_id and r.key = o.key;
      n := o.n;
      outcome := refused -> o.request_id ->> 'outcome';
      retry_ms := refused -> o.request_id ->> 'retry_ms';
      budget_left := refused -> o.request_id ->> 'budget_left';
      task_id := null;
      return next;
    end if;
  end loop;

  update task_load l set active = c.value::int
    from jsonb_each_text(counts) c
   where l.account_id = c.key and l.account_id = any (array(select jsonb_object_keys(counts)))
     and l.active <> c.value::int;
  if exists (select from unnest(accepted) where response is not null) then
    insert into response (id, created_at, account_id, previous_id, body, task_id)
    select t.response ->> 'id', (t.response ->> 'created_at')::timestamptz, t.account_id,
           t.response ->> 'previous_id', t.response ->> 'body', t.id
      from unnest(accepted) t where t.response is not null and not refused ? t.request_id;
  end if;
  if cardinality(accepted) > 0 then
    return query
    with made as (
      insert into task as k (id, account_id, request_id, client_request_id, idempotency_key, type, model,
                             job, config_version, callback_url, stages, deadline_at, deadline_seconds, traceparent,
                             wake_at)
      select t.id, t.account_id, t.request_id, t.client_request_id, t.key, t.type, t.model, t.job,
             t.config_version, t.callback_url, t.stages, now() + make_interval(secs => t.queue_seconds),
             t.deadline_seconds, t.traceparent, now()
        from unnest(accepted) t where not refused ? t.request_id
      returning k.id, k.request_id, k.created_at, k.deadline_at)
    select t.n, 'created', m.id, m.created_at, m.deadline_at, h.created_at, null, null::text[], h.id, 'open',
           h.allocations, h.held::numeric[], null::numeric[], null::numeric, h.account_id, null::int,
           null::numeric
      from made m join unnest(accepted) t on t.id = m.id join hold h on h.id = m.request_id
     where h.id = any (array(select request_id from unnest(accepted)));
  end if;
  if cardinality(ended) > 0 then
    return query
    select (ends -> e.id ->> 'n')::int, b.outcome, e.id, null::timestamptz, null::timestamptz, null::timestamptz,
           e.parent_id, array(select jsonb_array_elements_text(made -> e.id)), b.id, b.state, b.allocations, b.held,
           b.taken, b.shortfall, b.account_id, null::int, null::numeric
      from unnest(ended) e left join unnest(outcomes) b on b.id = e.request_id;
  end if;
end $$;
