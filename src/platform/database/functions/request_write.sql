-- Writes rows of the request log, given as a JSON array of objects with the columns' names; `at` is the time of the
-- request in milliseconds. `p_is_repeated`: some of them may have been written by a statement whose outcome is unknown;
-- those are left out. Locks nothing.
create or replace function request_write(p_rows json, p_is_repeated boolean) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  insert into request (id, created_at, account_id, key_id, method, endpoint, model, status, error_code, is_stream,
                       input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, charge, duration_ms,
                       first_byte_ms, client_request_id, end_user, metadata, task_id, attempts)
  select id, timestamptz 'epoch' + at * interval '1 millisecond', account_id, key_id, method, endpoint, model, status,
         error_code, is_stream, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, charge, duration_ms,
         first_byte_ms, client_request_id, end_user, metadata, task_id, attempts
    from json_to_recordset(p_rows) as r (
      id text, at bigint, account_id text, key_id text, method text, endpoint text, model text, status smallint,
      error_code text, is_stream boolean, input_tokens bigint, cached_input_tokens bigint, output_tokens bigint,
      reasoning_tokens bigint, charge numeric, duration_ms integer, first_byte_ms integer, client_request_id text,
      end_user text, metadata json, task_id text, attempts json)
   where not p_is_repeated or not exists (
     select from request q
      where q.created_at = timestamptz 'epoch' + r.at * interval '1 millisecond' and q.id = r.id);
end $$;
