-- What the parts of a drama cost the operator: each is made by another model, and perhaps by another provider.

alter table task add column cost numeric(32, 12) check (cost >= 0);

comment on column task.cost is
  'Of a subtask: what its upstream charges, in the gateway''s currency. Null: not over, or the configuration does '
  'not say.';

create table receipt_part (
  receipt_id text collate "C" not null,
  position   int not null,
  stage      text not null,
  model      text not null,
  upstream   text,
  amount     numeric(32, 12) not null check (amount >= 0),
  cost       numeric(32, 12) check (cost >= 0),
  created_at timestamptz not null default now(),
  primary key (receipt_id, position)
);

comment on table receipt_part is
  'What a drama was charged for, part by part, for the operator''s margins: written with its receipt. The parts add up to the receipt. Append-only, enforced by a trigger.
Bound: As receipts. Deleted when their month is archived.';
comment on column receipt_part.stage is 'The stage that the part belongs to; `drama` for the fee of the drama itself.';
comment on column receipt_part.upstream is 'provider/model that made it; null for the fee.';
comment on column receipt_part.amount is 'The share of the charge.';
comment on column receipt_part.cost is
  'What the upstream charges for it, in the gateway''s currency; zero for the fee. Null: the configuration does not say.';

alter table archive_file drop constraint archive_file_table_name_check;
alter table archive_file add constraint archive_file_table_name_check
  check (table_name in ('receipt', 'receipt_correction', 'receipt_part', 'transfer'));

do $$
begin
  execute format('comment on table archive_file is %L',
                 replace(obj_description('archive_file'::regclass, 'pg_class'), 'Three rows', 'A few rows'));
end $$;
