-- Bodies of requests and responses, with `logs.bodies`. Apart from the request log: its rows stay small.

alter table api_key add column log_bodies boolean not null default true;

comment on column api_key.log_bodies is 'Whether bodies of its requests may be stored, as `logs.bodies` says.';

create table request_body (
  id             text not null,
  created_at     timestamptz not null,
  request        bytea,
  request_bytes  bigint not null,
  response       bytea,
  response_bytes bigint not null
) partition by range (created_at);

comment on table request_body is
  E'Bodies of requests to models and of their responses, as far as `logs.bodies` keeps them: the beginning of each, '
  'sealed with SECRETS_KEY. One partition per day (UTC); rows of a day without a partition are in '
  'request_body_default.\nBound: `logs.keep_days`. A day is dropped.';
comment on column request_body.id is 'Of the row in `request`.';
comment on column request_body.created_at is 'As in `request`: the id begins with the same time.';
comment on column request_body.request is
  'The beginning of the body of the request, encrypted with AES-256-GCM: nonce, text, tag. Null: it had none, or was '
  'refused before it was read.';
comment on column request_body.request_bytes is 'The size of the whole body.';
comment on column request_body.response is
  'The same of the response; of a stream, the text as it was sent. Null: it was neither JSON nor a stream of events.';
comment on column request_body.response_bytes is 'The size of the whole body, as far as it was sent.';

create index request_body_created on request_body (created_at);

create table request_body_default partition of request_body default;
