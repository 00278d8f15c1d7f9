-- Rows that nodes send as arrays of these types: parsing them costs Postgres half of what JSON costs.

create type charge_row as (
  id                text,
  n                 int,
  g                 int,
  num               numeric,
  units             bigint,
  usage             jsonb,
  cost              numeric,
  drawn             numeric,
  max_units         bigint,
  begun_at          timestamptz,
  is_told           boolean,
  may_wait          boolean,
  request_id        text,
  client_request_id text,
  end_user          text,
  metadata          jsonb
);
comment on type charge_row is
  'What differs between charges that are booked at once: see ledger_charge. g names what it shares with others.';

create type request_row as (
  id                  text,
  created_at          timestamptz,
  account_id          text,
  key_id              text,
  method              text,
  endpoint            text,
  model               text,
  status              smallint,
  error_code          text,
  is_stream           boolean,
  input_tokens        bigint,
  cached_input_tokens bigint,
  output_tokens       bigint,
  reasoning_tokens    bigint,
  charge              numeric,
  duration_ms         integer,
  first_byte_ms       integer,
  client_request_id   text,
  end_user            text,
  metadata            json,
  task_id             text,
  attempts            json
);
comment on type request_row is 'A row of the request log as nodes send it: see request_write_rows.';

drop function if exists ledger_charge(json, json, text[], int, timestamptz, uuid);
drop function if exists ledger_charge_items(json, json, text[], int, uuid);
