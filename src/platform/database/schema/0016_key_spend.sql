-- What each API key spends, by day: its budget is checked against it.

create table key_spend (
  key_id text not null,
  day    date not null,
  amount numeric(32, 12) not null,
  primary key (key_id, day)
) with (fillfactor = 50); -- the row of the current day changes with every batch

comment on table key_spend is
  E'The money that each API key was charged, by the day (UTC) on which its requests were accepted: the sum of its '
  'receipts, written with them. Open holds are not in it.\n'
  'Bound: Keys and days on which they were used; months before the last one are one row per key.';
comment on column key_spend.day is 'Of months before the last one the first day stands for all.';

create index key_spend_day on key_spend (day);

insert into key_spend
select r.key_id, (r.created_at at time zone 'UTC')::date, sum(l.part)
  from final_receipt r, unnest(r.allocations, r.taken) as l (bucket, part)
 where r.key_id is not null and l.bucket not like 'quota:%'
 group by 1, 2 having sum(l.part) <> 0;

-- With the outcome over_budget: what is left of the budget of the key.
alter type ledger_outcome add attribute budget_left numeric;

alter table archive_remainder drop constraint archive_remainder_rule_check;
alter table archive_remainder
  add constraint archive_remainder_rule_check check (rule in ('capture', 'shortfall', 'spend'));
comment on column archive_remainder.rule is
  'capture: of a batch and a bucket. shortfall: of a request. spend: of a key and a day that is not archived.';
comment on column archive_remainder.subject is 'The batch, the id of the request, or the key.';
comment on column archive_remainder.bucket is 'The balance bucket; of spend, the day.';
