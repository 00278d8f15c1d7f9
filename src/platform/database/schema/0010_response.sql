-- Answers of POST /v1/responses that clients may refer to later. Partitioned by day, as the request log is: a day that is
-- over its time is dropped, not deleted row by row.

create table response (
  id           text not null,
  created_at   timestamptz not null,
  account_id   text not null,
  previous_id  text,
  body         text not null
) partition by range (created_at);

comment on table response is
  E'Stored responses of POST /v1/responses. One partition per day (UTC); rows of a day without a partition are in '
  'response_default.\nBound: `responses.keep_days`. A day is dropped.';
comment on column response.id is 'The id that clients have. The time in it is created_at, so a row is found by its id alone.';
comment on column response.created_at is 'The time in the id.';
comment on column response.account_id is 'No foreign key: rows are dropped by age, and reads name the account.';
comment on column response.previous_id is 'The response that this one continues (`previous_response_id`).';
comment on column response.body is
  'JSON with the response as the client got it, the input items of its request and the reasoning behind its output. '
  'Sealed where SECRETS_KEY is set.';

create index response_id on response (id);

create table response_default partition of response default;
