-- Usage per day also says which upstream answered and which plan the account was on, for margins. A drama has a line
-- for each of its parts.

drop function if exists usage_days;
drop view usage_line;

create view usage_line as
  select r.account_id, r.resolved_at, (r.resolved_at at time zone 'UTC')::date as day, r.model,
         coalesce(case when term.starts_at <= r.created_at then term.plan else earlier.plan end, '') as plan,
         coalesce(line.upstream, '') as upstream,
         (line.is_whole and r.state = 'settled')::int as calls,
         (line.is_whole and r.state <> 'settled')::int as failed,
         line.charged,
         line.gift,
         case when line.is_whole then coalesce(paid.quota, 0) else 0 end::bigint as quota,
         case when line.is_whole then r.shortfall else 0 end as shortfall,
         (line.is_whole and r.shortfall > 0)::int as capped,
         coalesce(line.cost, 0) as cost,
         line.is_uncosted::int as uncosted,
         case when line.is_uncosted then line.charged else 0 end as uncosted_charged,
         used.input_tokens, used.output_tokens, used.images, used.seconds, used.characters,
         r.id as receipt_id
    from final_receipt r
    left join lateral (
      select sum(t) filter (where bucket not like 'quota:%') as charged,
             sum(t) filter (where bucket like 'quota:%') as quota,
             sum(t) filter (where bucket like 'gift:%') as gift
        from unnest(r.allocations, r.taken) as l (bucket, t)) paid on true
    left join plan_term term on term.account_id = r.account_id and term.ended_at is null
    left join lateral (
      select t.plan from plan_term t
       where term.starts_at > r.created_at and t.account_id = r.account_id and t.starts_at <= r.created_at
       order by t.number desc limit 1) earlier on true
    -- Only receipts that name no upstream can have parts. With an offset Postgres looks up each by its key.
    left join lateral (
      select p.* from receipt_part p where r.upstream is null and p.receipt_id = r.id offset 0) part on true
    -- Money is divided by the parts' amounts. Each takes the difference of two rounded sums, so that nothing is lost.
    left join lateral (
      select nullif(sum(p.amount), 0) as total, sum(p.amount) filter (where p.position <= part.position) as upto
        from receipt_part p where part.position is not null and p.receipt_id = part.receipt_id) whole on true
    cross join lateral (
      select case when part.position is null then r.upstream else part.upstream end as upstream,
             case when part.position is null then r.cost else part.cost end as cost,
             case when part.position is null then r.state = 'settled' and r.cost is null
                  else part.cost is null end as is_uncosted,
             part.position is null or part.stage = 'drama' as is_whole,
             case when part.position is null or whole.total is null and part.stage = 'drama'
                  then coalesce(paid.charged, 0)
                  else coalesce(round(paid.charged * whole.upto / whole.total, 12)
                                - round(paid.charged * (whole.upto - part.amount) / whole.total, 12), 0)
                  end as charged,
             case when part.position is null or whole.total is null and part.stage = 'drama'
                  then coalesce(paid.gift, 0)
                  else coalesce(round(paid.gift * whole.upto / whole.total, 12)
                                - round(paid.gift * (whole.upto - part.amount) / whole.total, 12), 0)
                  end as gift) line
    cross join lateral (
      select coalesce((u ->> 'input_tokens')::bigint, 0) + coalesce((u ->> 'cached_input_tokens')::bigint, 0)
               + coalesce((u ->> 'cache_write_tokens')::bigint, 0)
               + coalesce((u ->> 'cache_write_1h_tokens')::bigint, 0)
               + coalesce((u ->> 'audio_input_tokens')::bigint, 0) as input_tokens,
             coalesce((u ->> 'output_tokens')::bigint, 0) + coalesce((u ->> 'reasoning_tokens')::bigint, 0)
               + coalesce((u ->> 'audio_output_tokens')::bigint, 0) as output_tokens,
             coalesce((u ->> 'images')::bigint, 0) as images,
             coalesce((u ->> 'seconds')::numeric, 0) as seconds,
             coalesce((u ->> 'characters')::bigint, 0) as characters
        from (select case when line.is_whole then r.usage end) as x (u)) used;

comment on view usage_line is
  'Receipts as lines of usage_day: one for each, of a drama one for each part. The line of the fee counts the drama.';

alter table usage_day
  drop constraint usage_day_pkey,
  add column plan text not null default '',
  add column upstream text not null default '',
  add column gift numeric(32, 12) not null default 0,
  add column shortfall numeric(32, 12) not null default 0,
  add column capped bigint not null default 0,
  add column uncosted_charged numeric(32, 12) not null default 0,
  add primary key (account_id, day, model, plan, upstream);
alter table usage_day
  alter column plan drop default, alter column upstream drop default, alter column gift drop default,
  alter column shortfall drop default, alter column capped drop default, alter column uncosted_charged drop default;

-- Days whose receipts are all there are summed again. Others keep their sums, without plan and upstream.
create temporary table summed on commit drop as
  select account_id, day, model, plan, upstream, sum(calls) as calls, sum(failed) as failed, sum(charged) as charged,
         sum(gift) as gift, sum(quota) as quota, sum(shortfall) as shortfall, sum(capped) as capped, sum(cost) as cost,
         sum(uncosted) as uncosted, sum(uncosted_charged) as uncosted_charged, sum(input_tokens) as input_tokens,
         sum(output_tokens) as output_tokens, sum(images) as images, sum(seconds) as seconds,
         sum(characters) as characters
    from usage_line where resolved_at < (select through from usage_watermark)
   group by account_id, day, model, plan, upstream;
with whole as (
  select account_id, day, model, sum(calls) as calls, sum(failed) as failed from summed group by 1, 2, 3),
same as (
  delete from usage_day d using whole w
   where (d.account_id, d.day, d.model, d.calls, d.failed) = (w.account_id, w.day, w.model, w.calls, w.failed)
  returning d.account_id, d.day, d.model)
insert into usage_day (account_id, day, model, plan, upstream, calls, failed, charged, gift, quota, shortfall, capped,
                       cost, uncosted, uncosted_charged, input_tokens, output_tokens, images, seconds, characters)
select s.* from summed s join same using (account_id, day, model);
drop table summed;

comment on table usage_day is
  E'Usage per account, day, model, plan and upstream, so that charts and margins need not read all receipts. The days '
  'of an archived month are one row, under its first day.\n'
  'Bound: Days on which an account used a model; of archived months one row for the month.';
comment on column usage_day.plan is 'The plan of the account when the request was accepted. Empty: not known.';
comment on column usage_day.upstream is
  'provider/model that answered, or made the part of a drama. Empty: none, as of requests that failed and of fees.';
comment on column usage_day.gift is 'The part of `charged` that promotional credit paid.';
comment on column usage_day.shortfall is 'The part of prices that accounts could not pay.';
comment on column usage_day.capped is 'Requests with a shortfall.';
comment on column usage_day.cost is 'What upstreams charge, as far as it is known.';
comment on column usage_day.uncosted is 'Settled requests, and parts of dramas, whose cost is not known.';
comment on column usage_day.uncosted_charged is 'The part of `charged` that is for those.';
