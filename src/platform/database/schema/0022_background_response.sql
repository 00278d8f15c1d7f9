-- Background responses: a task makes them, and they end in the transaction that ends it.

alter table response add column task_id text;
alter table response add column task_status text;
alter table response add column error_code text;
alter table response add column error_message text;

comment on column response.task_id is
  'Of a background response: the task that makes it. No foreign key: tasks and responses have different retention.';
comment on column response.task_status is
  'Of a background response: how its task ended. Null until then: the row of the task tells.';
comment on column response.error_code is 'Of a background response that failed: why.';
comment on column response.body is
  'JSON with the response as the client got it, the input items of its request and the reasoning behind its output; of a '
  'background response that has not ended also the request. Sealed where SECRETS_KEY is set.';

-- The row of the response that a task is to make.
alter type new_task add attribute response json;

-- Until now these four were all events: the console showed such an endpoint as one for all of them.
update webhook_endpoint set event_types = null
 where event_types @> '{task.succeeded,task.failed,task.cancelled,task.expired}';
