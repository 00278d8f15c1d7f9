-- The moment that a request id begins with, rounded down by at most 13 days: the first four digits of its time are
-- enough to tell an old one, and cost next to nothing. Of an id that begins with no time it is any moment.
-- Locks nothing.
create or replace function ledger_time_of(request_id text) returns timestamptz
language sql immutable as $$
  select to_timestamp((
           (strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(request_id, 5, 1)) - 1) * 32768
         + (strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(request_id, 6, 1)) - 1) * 1024
         + (strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(request_id, 7, 1)) - 1) * 32
         + (strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(request_id, 8, 1)) - 1)
         )::float8 * 1073741.824)
$$;
