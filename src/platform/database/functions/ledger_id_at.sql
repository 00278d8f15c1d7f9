-- The smallest request id of a moment: ids begin with the time in milliseconds, in ten digits of base 32.
-- Locks nothing.
create or replace function ledger_id_at(moment timestamptz) returns text
language sql immutable as $$
  select 'req_' || string_agg(
           substr('0123456789abcdefghjkmnpqrstvwxyz',
                  ((floor(extract(epoch from moment) * 1000)::bigint >> (5 * digit)) & 31)::int + 1, 1), ''
           order by digit desc)
    from generate_series(0, 9) digit
$$;
