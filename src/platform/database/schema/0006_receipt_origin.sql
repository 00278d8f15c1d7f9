-- A receipt says which key, and which end user of the client, a request was for.

alter table hold add column key_id text, add column end_user text, add column metadata jsonb;
alter table receipt add column key_id text, add column end_user text, add column metadata jsonb;
alter table receipt_correction add column key_id text, add column end_user text, add column metadata jsonb;

comment on column hold.key_id is 'The API key. Null: the request was made in the console.';
comment on column hold.end_user is 'The field `user` of the body.';
comment on column hold.metadata is 'The field `metadata` of the body: 16 short values at most.';
comment on column receipt.key_id is
  'The API key. Null: the request was made in the console, or before receipts had this column.';
comment on column receipt.end_user is 'The field `user` of the body.';
comment on column receipt.metadata is 'The field `metadata` of the body: 16 short values at most.';

-- For the ops hold and charge.
alter type ledger_item add attribute key_id text;
alter type ledger_item add attribute end_user text;
alter type ledger_item add attribute metadata jsonb;
alter type charge_columns add attribute key_id text[];
alter type charge_columns add attribute end_user text[];
alter type charge_columns add attribute metadata jsonb[];

create or replace view final_receipt as
  select r.* from receipt r where not exists (select from receipt_correction c where c.id = r.id)
  union all
  select * from receipt_correction;
