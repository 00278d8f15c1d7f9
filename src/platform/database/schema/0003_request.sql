-- The request log. It is partitioned by day: a day that is over its time is dropped, not deleted row by row.
-- src/platform/database/partitions.ts creates partitions ahead and drops old ones.

create table request (
  id                  text not null,
  created_at          timestamptz not null,
  account_id          text not null,
  key_id              text,
  method              text not null,
  endpoint            text,
  model               text,
  status              smallint not null,
  error_code          text,
  is_stream           boolean not null,
  input_tokens        bigint,
  cached_input_tokens bigint,
  output_tokens       bigint,
  reasoning_tokens    bigint,
  charge              numeric,
  duration_ms         integer not null,
  first_byte_ms       integer not null,
  client_request_id   text,
  end_user            text,
  metadata            json,
  task_id             text,
  attempts            json
) partition by range (created_at);

comment on table request is
  'The request log: one row for each request under /v1 with a valid key, refused ones too. Kept for '
  '`logs.keep_days`. One partition per day (UTC); rows of a day without a partition are in request_default.';
comment on column request.id is
  'The id in the response. Not unique by constraint: checking it would cost a sixth of the write.';
comment on column request.created_at is
  'When the request began. The id begins with the same time, so a row is found by its id alone.';
comment on column request.account_id is 'No foreign key: a row is a note of what happened, and is dropped by age.';
comment on column request.key_id is 'The API key. Null: the request was made in the console.';
comment on column request.endpoint is 'The operation of the route. Null: there is no such endpoint.';
comment on column request.model is 'The model as the request named it. Null: it named none, or its body was not read.';
comment on column request.status is 'The HTTP status. 499: the client disconnected before the response.';
comment on column request.error_code is
  'The code of the API error; also of one in the middle of a stream, whose status is 200.';
comment on column request.input_tokens is 'Tokens of a chat, without cached ones. Null: nothing was counted.';
comment on column request.output_tokens is 'Without reasoning.';
comment on column request.charge is
  'Money that was taken for the request. Null: not known when it ended, because a task is charged later or '
  'the settlement waits for the database.';
comment on column request.duration_ms is 'Until the response was complete; of a download and of a task''s events, until it began.';
comment on column request.first_byte_ms is 'Until the response began.';
comment on column request.client_request_id is 'The header X-Client-Request-Id.';
comment on column request.end_user is 'The field `user` of the body.';
comment on column request.metadata is 'The field `metadata` of the body: 16 short values at most.';
comment on column request.task_id is 'The task that the request created.';
comment on column request.attempts is
  'For operators: the upstreams that were tried, with provider, model, outcome and duration_ms.';

-- Every index of every row is written for every request: as few as there are ways to look, and as narrow.
create index request_created on request (created_at);
create index request_account on request (account_id, created_at);
create index request_failed on request (account_id, created_at) where status >= 400;
create index request_client on request (client_request_id) where client_request_id is not null;

create table request_default partition of request default;

-- A new database has its first days at once.
do $$
declare
  first constant date := (now() at time zone 'UTC')::date;
begin
  for n in 0..2 loop
    execute format('create table %I partition of request for values from (%L) to (%L)',
                   'request_' || to_char(first + n, 'YYYYMMDD'),
                   (first + n)::text || ' 00:00:00+00', (first + n + 1)::text || ' 00:00:00+00');
  end loop;
end $$;
