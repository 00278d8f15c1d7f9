-- The time that a request id begins with, by which its row of the request log is found.
-- Locks nothing.
create or replace function request_begun_at(request_id text) returns timestamptz
language sql immutable as $$
  select to_timestamp(sum((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(request_id, 5 + n, 1)) - 1)
                          * 32::numeric ^ (9 - n)) / 1000)
    from generate_series(0, 9) n
$$;
