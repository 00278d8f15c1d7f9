-- Ends many tasks at once, each completely: status and results, the life of its idempotency key, the count of active
-- tasks, event and deliveries, and the settlement of its hold (`charge`; null releases it). An item whose task has
-- ended, or that may not end it, changes nothing and has no row in the answer; the others are not affected. With a
-- `fence` an item may end the task while that is the newest; without, `is_unsent` ends it only while no upstream can
-- have it.
-- A subtask has no key, no count, no event and no hold. The other columns of the answer are those of ledger_outcome.
-- Locks tasks, keys, counts, then wallets, each in order, so that two calls cannot wait for each other. Wallets last:
-- from there on other transactions of the accounts wait.
create or replace function task_finish(doc json, out n int, out parent_id text, out deliveries text[], out id text,
                            out outcome text, out state text, out allocations text[], out held numeric[],
                            out taken numeric[], out shortfall numeric, out account_id text)
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
  ids        text[] := array(select c ->> 'id' from json_array_elements(doc) c);
  -- Of the tasks that end, at one position each.
  ended_n    int[];
  ended_id   text[];
  requests   text[];
  accounts   text[];
  parents    text[];
  urls       text[];
  keys       text[];
  charges    jsonb[];
  events     json[];
  holders    text[]; -- accounts of tasks that are no subtasks
  made       jsonb; -- ids of deliveries, by the task's id
  items      jsonb; -- ledger items by the hold's id
  resolved   ledger_outcome[];
begin
  perform from task where id = any (ids) order by id for no key update;
  with ended as (
    update task t
       set status = c.status, outputs = c.outputs, units = c.units,
           progress = case when c.status = 'succeeded' then 100 else t.progress end,
           error_code = c.error_code, error_message = c.error_message,
           started_at = coalesce(t.started_at, t.submitted_at), completed_at = now(),
           stage = coalesce(c.stage, t.stage), stages = coalesce(c.stages, t.stages),
           usage = case when t.parent_id is not null then c.usage end,
           updated_at = now(), wake_at = null, lease_until = null, dead_at = null, result = null, fence = t.fence + 1
      from json_to_recordset(doc)
        as c (n int, id text, fence bigint, is_unsent boolean, status text, outputs jsonb, units bigint,
              error_code text, error_message text, stage text, stages jsonb, usage jsonb, charge jsonb, event json)
     where t.id = c.id and t.id = any (ids) and t.completed_at is null
       and case when c.fence is not null then t.fence = c.fence else not c.is_unsent or t.phase = 'submit' end
    returning c.n, t.id, t.request_id, t.account_id, t.parent_id, t.callback_url, t.idempotency_key, c.charge, c.event)
  select array_agg(n), array_agg(id), array_agg(request_id), array_agg(account_id), array_agg(parent_id),
         array_agg(callback_url), array_agg(idempotency_key), array_agg(charge), array_agg(event)
    into ended_n, ended_id, requests, accounts, parents, urls, keys, charges, events
    from ended;
  if ended_n is null then return; end if;

  if exists (select from unnest(keys) k where k is not null) then
    perform from idempotency i
       join unnest(accounts, keys) as e (account_id, key) on i.account_id = e.account_id and i.key = e.key
      where i.account_id = any (accounts) and i.key = any (keys)
      order by i.account_id, i.key for no key update of i;
    update idempotency i set expires_at = now() + interval '24 hours'
      from unnest(accounts, keys, ended_id) as e (account_id, key, task_id)
     where i.account_id = e.account_id and i.key = e.key and i.task_id = e.task_id
       and i.account_id = any (accounts) and i.key = any (keys);
  end if;

  holders := array(select account_id from unnest(accounts, parents) as e (account_id, parent_id)
                    where parent_id is null);
  if cardinality(holders) > 0 then
    perform from task_load where account_id = any (holders) order by account_id for no key update;
    update task_load l set active = l.active - e.count
      from (select account_id, count(*) as count from unnest(holders) account_id group by account_id) e
     where l.account_id = e.account_id and l.account_id = any (holders);

    select coalesce(jsonb_object_agg(d.task_id, d.ids), '{}') into made
      from (select task_id, array_agg(delivery_id) as ids
              from webhook_enqueue((
                select json_agg(json_build_object(
                         'id', event ->> 'id', 'account_id', account_id, 'task_id', id, 'type', event ->> 'type',
                         'data', event ->> 'data', 'url', url, 'host', event ->> 'host'))
                  from unnest(ended_id, accounts, parents, urls, events)
                    as e (id, account_id, parent_id, url, event)
                 where parent_id is null))
             group by task_id) d;

    select jsonb_object_agg(request_id, jsonb_build_object(
             'n', n, 'id', request_id, 'account_id', account_id,
             'op', case when charge is null then 'release' else 'settle' end) || coalesce(charge, '{}'))
      into items
      from unnest(ended_n, requests, accounts, parents, charges) as e (n, request_id, account_id, parent_id, charge)
     where parent_id is null;
    resolved := array(select b from ledger_batch((select json_agg(value) from jsonb_each(items))) b);
    -- A hold that a sweeper has resolved is settled all the same.
    if exists (select from unnest(resolved) r where r.outcome = 'already' and r.state <> 'released') then
      resolved := array(
        select case when r.outcome = 'already' and r.state <> 'released' and items -> r.id ->> 'op' = 'settle'
                 then (select l from ledger_settle_late((items -> r.id)::json) l) else r end
          from unnest(resolved) r);
    end if;
    -- A task without its hold must not end: the caller tries the others without it.
    if exists (select from unnest(resolved) r where r.outcome not in ('resolved', 'already')) then
      raise exception 'A task that ends has no hold';
    end if;
  end if;

  return query
  select e.n, e.parent_id, array(select jsonb_array_elements_text(made -> e.id)), r.id, r.outcome, r.state,
         r.allocations, r.held, r.taken, r.shortfall, r.account_id
    from unnest(ended_n, ended_id, parents) as e (n, id, parent_id) left join unnest(resolved) r on r.n = e.n;
end $$;
