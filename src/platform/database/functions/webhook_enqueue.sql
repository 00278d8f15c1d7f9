-- Writes events and one delivery for each receiver: the `url` of the event if it has one, else every enabled endpoint
-- of its account that wants the type. An event without a receiver, or of a closed account, is not written; a task has
-- one event: the tasks' rows, which the transaction has changed, keep two calls for the same one apart. Answers the
-- new deliveries.
-- Locks nothing but what it writes.
create or replace function webhook_enqueue(doc json, out task_id text, out delivery_id text)
returns setof record
language plpgsql
-- The queries here read a handful of rows by key, however large the tables are.
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  accounts text[] := array(select e ->> 'account_id' from json_array_elements(doc) e);
  tasks text[] := array(select e ->> 'task_id' from json_array_elements(doc) e);
begin
  return query
  with event as (
    select * from json_to_recordset(doc)
      as e (id text, account_id text, task_id text, type text, data text, url text, host text)),
  target as (
    select e.id as event_id, null::text as endpoint_id, e.url, e.host from event e where e.url is not null
     union all
    select e.id, w.id, w.url, w.host from event e join webhook_endpoint w on w.account_id = e.account_id
     where e.url is null and w.account_id = any (accounts) and w.deleted_at is null and w.disabled_at is null
       and (w.event_types is null or e.type = any (w.event_types))),
  made as (
    insert into webhook_event (id, account_id, task_id, type, data)
    select e.id, e.account_id, e.task_id, e.type, e.data from event e
     where e.id in (select event_id from target)
       and e.account_id <> all (array(
             select a.id from account a where a.id = any (accounts) and a.closed_at is not null))
       and (e.task_id is null or e.task_id <> all (array(
             select w.task_id from webhook_event w where w.task_id = any (tasks))))
    returning id, account_id, task_id),
  sent as (
    insert into webhook_delivery (id, event_id, account_id, endpoint_id, url, destination, wake_at)
    select 'dlv_' || substr(m.id, 5)
             || lpad(row_number() over (partition by m.id order by t.endpoint_id)::text, 2, '0'),
           m.id, m.account_id, t.endpoint_id, t.url, m.account_id || '/' || t.host, now()
      from made m join target t on t.event_id = m.id
    returning id, event_id)
  select m.task_id, s.id from sent s join made m on m.id = s.event_id order by s.id;
end $$;
