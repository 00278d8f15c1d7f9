-- Whether the month of a request id is archived: then nothing can tell whether it was booked. Ids that begin with no
-- time belong to no month.
-- Locks nothing.
create or replace function ledger_is_archived(request_id text) returns boolean
language sql stable as $$
  select exists (
    select from (select month from archive_month where archived_at is not null order by month desc limit 1) m
     where request_id ~ '^req_[0-9a-z]{10}'
       and request_id collate "C" < ledger_id_at((m.month + interval '1 month') at time zone 'UTC'))
$$;
