-- Writes rows of the request log for requests whose node has died: a sweeper has resolved their holds. Those that have a
-- row are left out. A stream that was billed had begun its response.
-- Locks nothing.
create or replace function request_write_lost(ids text[]) returns void
language sql as $$
  insert into request (id, created_at, account_id, key_id, method, endpoint, model, status, error_code, is_stream, charge,
                       duration_ms, first_byte_ms, client_request_id, end_user, metadata)
  select r.request_id, begun_at, r.account_id, r.key_id, 'POST', r.endpoint, r.model,
         case r.state when 'settled' then 200 else 503 end, 'gateway_stopped', r.state = 'settled',
         (select coalesce(sum(taken), 0) from unnest(r.allocations, r.taken) as l (bucket, taken)
           where bucket not like 'quota:%'),
         d.ms, d.ms, r.client_request_id, r.end_user, r.metadata::json
    from ledger_find_receipts(ids) r,
         request_begun_at(r.request_id) as begun_at,
         lateral (select least(extract(epoch from r.resolved_at - r.created_at) * 1000, 2147483647)::int as ms) d
   where r.ended_by = 'sweeper' and r.endpoint is not null and r.request_id ~ '^req_[0-9a-z]{26}$'
     and not exists (select from request q where q.created_at = begun_at and q.id = r.request_id)
$$;
