-- A receipt says which endpoint a request was made at: usage can be grouped by it.

alter table hold add column endpoint text;
alter table receipt add column endpoint text;
alter table receipt_correction add column endpoint text;

comment on column hold.endpoint is 'The operation of the route.';
comment on column receipt.endpoint is
  'The operation of the route. Null: the request was made before receipts had this column.';

-- For the ops hold and charge.
alter type ledger_item add attribute endpoint text;
alter type charge_columns add attribute endpoint text[];

create or replace view final_receipt as
  select r.* from receipt r where not exists (select from receipt_correction c where c.id = r.id)
  union all
  select * from receipt_correction;
