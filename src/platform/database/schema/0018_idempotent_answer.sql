-- Answers of chats with an Idempotency-Key. Apart from `idempotency`, whose keys lead to tasks.

create table idempotent_answer (
  account_id  text not null,
  key         text not null check (char_length(key) between 1 and 255),
  path        text not null,
  body_hash   text not null,
  request_id  text not null,
  lease_until timestamptz not null,
  answered_at timestamptz,
  is_stream   boolean not null default false,
  answer      text,
  expires_at  timestamptz not null,
  primary key (account_id, key)
);

comment on table idempotent_answer is
  E'Requests for answers of chat models with an `Idempotency-Key`: a repeated one gets the first answer again.\nBound: '
  'Expired rows are deleted every minute. An answer is kept for a day, and has 4 MB at most.';
comment on column idempotent_answer.request_id is 'The request that makes or made the answer.';
comment on column idempotent_answer.lease_until is
  'While it is made: a node renews it. When it is over, the node has died, and the request may be made again unless it '
  'was charged.';
comment on column idempotent_answer.answered_at is 'Null while the answer is made.';
comment on column idempotent_answer.answer is
  'The body of the response. Sealed where SECRETS_KEY is set. Null: not answered yet, or too large to be kept.';

create index idempotent_answer_over on idempotent_answer (expires_at);
