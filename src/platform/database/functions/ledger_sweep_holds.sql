-- Resolves expired holds: by the last checkpoint, or by returning everything. The oldest first: what one takes
-- beyond its hold, the next cannot. At most so many in one call. One that has just expired waits for what nodes have only
-- reserved, rather than record a shortfall: insufficient, and left to the next sweep.
-- Their node has died, and with it their rows of the request log: those are written here.
-- Locks like ledger_run, after the sweeper's own lock.
create or replace function ledger_sweep_holds(max_count int) returns setof ledger_outcome
language plpgsql as $$
declare
  doc json;
begin
  if not ledger_try_sweep_lock('holds') then return; end if;
  select json_agg(json_build_object('n', n, 'op', 'expire', 'id', id, 'account_id', account_id, 'may_wait',
                                    expires_at > ledger_now() - interval '10 seconds')) into doc
    from (select row_number() over (order by expires_at, id) as n, id, account_id, expires_at from hold
           where expires_at <= ledger_now() order by expires_at, id limit max_count) due;
  if doc is null then return; end if;
  return query select * from ledger_run(doc);
  perform request_write_lost(array(select line ->> 'id' from json_array_elements(doc) line));
end $$;
