-- An account's receipts in the order of their time, as ledger_find_receipts has them, those of requests under way too:
-- at most so many of each table, for the caller to merge. They begin after the place of one of them, or with nulls at
-- the end of the list. Receipts with ids before `first_id` may be left out: partitions of before are not looked into.
-- Filters that are null do not apply.
-- Locks nothing.
create or replace function ledger_list_receipts(for_account text, is_ascending boolean, after_at timestamptz,
                                                after_id text, first_id text, for_model text, from_at timestamptz,
                                                to_at timestamptz, max_count int)
returns setof receipt
language plpgsql stable
-- Planning for all partitions takes ten times as long as reading from the few that are needed.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  open_ids text[];
begin
  from_at := coalesce(from_at, '-infinity');
  to_at := coalesce(to_at, 'infinity');
  after_at := coalesce(after_at, case when is_ascending then '-infinity' else 'infinity' end::timestamptz);
  after_id := coalesce(after_id, '');
  if is_ascending then
    return query
    select r.* from receipt r
     where account_id = for_account and (created_at, id) > (after_at, after_id) and created_at >= from_at
       and created_at < to_at and (for_model is null or model = for_model) and id >= first_id
       and not exists (select from receipt_correction c where c.id = r.id)
     order by created_at, id limit max_count;
    return query
    select * from receipt_correction
     where account_id = for_account and (created_at, id) > (after_at, after_id) and created_at >= from_at
       and created_at < to_at and (for_model is null or model = for_model)
     order by created_at, id limit max_count;
    open_ids := array(
      select id from hold
       where account_id = for_account and (created_at, id) > (after_at, after_id) and created_at >= from_at
         and created_at < to_at and (for_model is null or model = for_model)
       order by created_at, id limit max_count);
  else
    return query
    select r.* from receipt r
     where account_id = for_account and (created_at, id) < (after_at, after_id) and created_at >= from_at
       and created_at < to_at and (for_model is null or model = for_model) and id >= first_id
       and not exists (select from receipt_correction c where c.id = r.id)
     order by created_at desc, id desc limit max_count;
    return query
    select * from receipt_correction
     where account_id = for_account and (created_at, id) < (after_at, after_id) and created_at >= from_at
       and created_at < to_at and (for_model is null or model = for_model)
     order by created_at desc, id desc limit max_count;
    open_ids := array(
      select id from hold
       where account_id = for_account and (created_at, id) < (after_at, after_id) and created_at >= from_at
         and created_at < to_at and (for_model is null or model = for_model)
       order by created_at desc, id desc limit max_count);
  end if;
  if cardinality(open_ids) > 0 then
    return query select * from ledger_find_receipts(open_ids);
  end if;
end $$;
