-- Writes rows of the request log. `p_is_repeated`: some of them may have been written by a statement whose outcome is
-- unknown; those are left out. Locks nothing.
create or replace function request_write_rows(p_rows request_row[], p_is_repeated boolean) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  insert into request (id, created_at, account_id, key_id, method, endpoint, model, status, error_code, is_stream,
                       input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, charge, duration_ms,
                       first_byte_ms, client_request_id, end_user, metadata, task_id, attempts)
  select *
    from unnest(p_rows) r
   where not p_is_repeated
      or not exists (select from request q where q.created_at = r.created_at and q.id = r.id);
end $$;
