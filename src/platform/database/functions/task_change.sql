-- Claims tasks and records what their steps did, for many tasks in one statement. `doc` has a list for each kind of
-- change; ids within one call must differ. An item whose task has ended, or was claimed by another process, changes
-- nothing and has no row in the answer; the others are not affected.
-- `is_asked`: a cancellation was requested meanwhile, and the task is due at once. `claimed`: the task, of a claim.
-- Locks the tasks of the changes in the order of their ids. A claim leaves out a task whose row is locked: the
-- transaction that locks it notifies the queue when it leaves the task due.
create or replace function task_change(doc json, lease interval, early interval,
                                       out n int, out is_asked boolean, out claimed json)
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
  kind    text;
  changes json;
  ids     text[];
begin
  ids := array(select c ->> 'id' from json_each(doc) k, json_array_elements(k.value) c where k.key <> 'claim');
  perform from task where id = any (ids) order by id for no key update;

  for kind in select json_object_keys(doc) loop
    changes := doc -> kind;
    ids := array(select c ->> 'id' from json_array_elements(changes) c);
    case kind
      -- The lease goes on.
      when 'renew' then
        return query
        update task t set lease_until = now() + lease, wake_at = now() + lease
          from json_to_recordset(changes) as c (n int, id text, fence bigint)
         where t.id = c.id and t.id = any (ids) and t.fence = c.fence and t.completed_at is null
        returning c.n, false, null::json;

      -- About to be sent to an upstream.
      when 'submitting' then
        return query
        update task t
           set phase = 'submitting', provider = c.provider, upstream_model = c.upstream_model, submitted_at = now(),
               last_failure = null
          from json_to_recordset(changes)
            as c (n int, id text, fence bigint, provider text, upstream_model text)
         where t.id = c.id and t.id = any (ids) and t.fence = c.fence and t.completed_at is null
        returning c.n, false, null::json;

      -- About to call an upstream that answers within the call: the first call starts the model's deadline. A call that
      -- was under way before has failed.
      when 'calling' then
        return query
        update task t
           set attempts = case when t.phase = 'submitting'
                 then t.attempts || jsonb_build_object(
                   'provider', t.provider, 'model', t.upstream_model, 'outcome', c.last_failure,
                   'duration_ms', round(extract(epoch from now() - t.submitted_at) * 1000))
                 else t.attempts end,
               phase = 'submitting', status = 'running', provider = c.provider, upstream_model = c.upstream_model,
               submitted_at = now(), last_failure = null,
               started_at = coalesce(t.started_at, now()),
               updated_at = case when t.started_at is null then now() else t.updated_at end,
               deadline_at = case when t.started_at is null
                               then now() + make_interval(secs => t.deadline_seconds) else t.deadline_at end
          from json_to_recordset(changes)
            as c (n int, id text, fence bigint, provider text, upstream_model text, last_failure text)
         where t.id = c.id and t.id = any (ids) and t.fence = c.fence and t.completed_at is null
        returning c.n, false, null::json;

      -- Has called upstreams, with what became of each call. The lease stays.
      when 'called' then
        return query
        update task t set attempts = t.attempts || c.attempts
          from json_to_recordset(changes) as c (n int, id text, fence bigint, attempts jsonb)
         where t.id = c.id and t.id = any (ids) and t.fence = c.fence and t.completed_at is null
        returning c.n, false, null::json;

      -- An upstream has the job: the model's deadline starts. The lease stays, unless there is a delay until the next step.
      when 'accepted' then
        return query
        update task t
           set phase = 'accepted', upstream_id = c.upstream_id, status = 'running', started_at = now(), updated_at = now(),
               poll_count = 0, failures = 0, tried = '{}', deadline_at = now() + make_interval(secs => t.deadline_seconds),
               progress = greatest(t.progress, c.progress),
               lease_until = case when c.delay_ms is null then t.lease_until end,
               wake_at = case when c.delay_ms is null then t.wake_at
                              when t.cancel_requested_at is not null and t.cancel_sent_at is null then now()
                              else now() + c.delay_ms * interval '1 millisecond' end
          from json_to_recordset(changes)
            as c (n int, id text, fence bigint, upstream_id text, delay_ms float8, progress smallint)
         where t.id = c.id and t.id = any (ids) and t.fence = c.fence and t.completed_at is null
        returning c.n, t.cancel_requested_at is not null and t.cancel_sent_at is null, null::json;

      -- Results that the upstream returns only once, until they are copied.
      when 'result' then
        return query
        update task t
           set phase = 'copying', result = c.result, status = 'running', started_at = t.submitted_at, updated_at = now(),
               failures = 0, deadline_at = now() + make_interval(secs => t.deadline_seconds)
          from json_to_recordset(changes) as c (n int, id text, fence bigint, result jsonb)
         where t.id = c.id and t.id = any (ids) and t.fence = c.fence and t.completed_at is null
        returning c.n, false, null::json;

      -- A copied result. An index that has a result keeps it.
      when 'output' then
        return query
        update task t set outputs = t.outputs || c.output
          from json_to_recordset(changes) as c (n int, id text, fence bigint, output jsonb)
         where t.id = c.id and t.id = any (ids) and t.fence = c.fence and t.completed_at is null
           and not t.outputs @> jsonb_build_array(jsonb_build_object('index', c.output -> 'index'))
        returning c.n, false, null::json;

      -- Until the next step.
      when 'wait' then
        return query
        update task t
           set progress = greatest(t.progress, c.progress),
               updated_at = case when c.progress > t.progress then now() else t.updated_at end,
               poll_count = t.poll_count + c.polls, failures = 0, lease_until = null,
               wake_at = case when t.cancel_requested_at is not null and t.cancel_sent_at is null
                                 and t.phase in ('submit', 'accepted')
                           then now() else now() + c.delay_ms * interval '1 millisecond' end
          from json_to_recordset(changes)
            as c (n int, id text, fence bigint, delay_ms float8, progress smallint, polls int)
         where t.id = c.id and t.id = any (ids) and t.fence = c.fence and t.completed_at is null
        returning c.n, t.cancel_requested_at is not null and t.cancel_sent_at is null
                         and t.phase in ('submit', 'accepted'), null::json;

      -- An upstream may have the job: the next step looks it up.
      when 'unclear' then
        return query
        update task t
           set last_failure = c.last_failure, failures = 0, lease_until = null,
               wake_at = now() + c.delay_ms * interval '1 millisecond'
          from json_to_recordset(changes) as c (n int, id text, fence bigint, last_failure text, delay_ms float8)
         where t.id = c.id and t.id = any (ids) and t.fence = c.fence and t.completed_at is null
        returning c.n, false, null::json;

      -- No upstream has the job: it will be submitted to another one, or later.
      when 'unsent' then
        return query
        update task t
           set attempts = case when cardinality(c.tried) > cardinality(t.tried)
                 then t.attempts || jsonb_build_object(
                   'provider', t.provider, 'model', t.upstream_model, 'outcome', c.last_failure,
                   'duration_ms', round(extract(epoch from now() - t.submitted_at) * 1000))
                 else t.attempts end,
               phase = 'submit', provider = null, upstream_model = null, submitted_at = null, tried = c.tried,
               last_failure = c.last_failure, failures = 0, poll_count = t.poll_count + c.polls, lease_until = null,
               wake_at = case when t.cancel_requested_at is not null then now()
                           else now() + c.delay_ms * interval '1 millisecond' end
          from json_to_recordset(changes)
            as c (n int, id text, fence bigint, tried text[], last_failure text, delay_ms float8, polls int)
         where t.id = c.id and t.id = any (ids) and t.fence = c.fence and t.completed_at is null
        returning c.n, t.cancel_requested_at is not null, null::json;

      when 'cancel_sent' then
        return query
        update task t set cancel_sent_at = now()
          from json_to_recordset(changes) as c (n int, id text, fence bigint)
         where t.id = c.id and t.id = any (ids) and t.fence = c.fence and t.completed_at is null
        returning c.n, false, null::json;

      -- A download failed; it is tried again later.
      when 'download_failed' then
        return query
        update task t
           set download_tries = t.download_tries + 1, last_failure = c.last_failure, lease_until = null,
               wake_at = now() + c.delay_ms * interval '1 millisecond'
          from json_to_recordset(changes)
            as c (n int, id text, fence bigint, last_failure text, delay_ms float8)
         where t.id = c.id and t.id = any (ids) and t.fence = c.fence and t.completed_at is null
        returning c.n, false, null::json;

      -- A step failed. It is repeated later; without a delay only an operator's replay or the deadline wakes the task.
      when 'failure' then
        return query
        update task t
           set failures = t.failures + 1, last_failure = c.last_failure, lease_until = null,
               dead_at = case when c.delay_ms is null then now() end,
               wake_at = case when c.delay_ms is null then greatest(t.deadline_at, now())
                           else now() + c.delay_ms * interval '1 millisecond' end
          from json_to_recordset(changes) as c (n int, id text, fence bigint, last_failure text, delay_ms float8)
         where t.id = c.id and t.id = any (ids) and t.fence = c.fence and t.completed_at is null
        returning c.n, false, null::json;

      when 'claim' then
        ids := array(
          select id from task
           where id = any (ids) and (lease_until is null or lease_until <= now())
             -- Not a condition that the index of due tasks could serve: most of those are not asked for.
             and coalesce(wake_at <= now() + early, false)
           order by id for no key update skip locked);
        return query
        update task t set fence = t.fence + 1, lease_until = now() + lease, wake_at = now() + lease
          from json_to_recordset(changes) as c (n int, id text)
         where t.id = c.id and t.id = any (ids)
        returning c.n, false, json_build_object(
          'id', t.id, 'account_id', t.account_id, 'request_id', t.request_id, 'type', t.type, 'model', t.model,
          'status', t.status, 'progress', t.progress, 'job', t.job, 'callback_url', t.callback_url, 'outputs', t.outputs,
          'stage', t.stage, 'phase', t.phase, 'provider', t.provider, 'upstream_model', t.upstream_model,
          'upstream_id', t.upstream_id, 'tried', t.tried, 'result', t.result, 'poll_count', t.poll_count,
          'failures', t.failures, 'last_failure', t.last_failure, 'download_tries', t.download_tries,
          'fence', t.fence::text, 'parent_id', t.parent_id, 'wakeups', t.wakeups, 'config_version', t.config_version,
          'traceparent', t.traceparent,
          'cancel_requested_at',
            coalesce(t.cancel_requested_at, (select a.closed_at from account a where a.id = t.account_id)),
          'cancel_sent_at', t.cancel_sent_at,
          'is_overdue', t.deadline_at <= now(), 'age_seconds', extract(epoch from now() - t.created_at)::float8,
          'sent_seconds', extract(epoch from now() - t.submitted_at)::float8, 
          'price', (select h.price from hold h where h.id = t.request_id),
          'kind', (select h.kind from hold h where h.id = t.request_id));
    end case;
  end loop;
end $$;
