-- Writes rows of the request log, given as a JSON array of objects with the columns' names; `at` is the time of the
-- request in milliseconds. A row that is there already is left as it is, so that a batch whose outcome is unknown may
-- be written again. Locks nothing but the new rows.
create or replace function request_write(p_rows json) returns void
language sql as $$
  insert into request (id, created_at, account_id, key_id, method, endpoint, model, status, error_code, is_stream,
                       input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, charge, duration_ms,
                       first_byte_ms, client_request_id, end_user, metadata, task_id, attempts)
  select id, timestamptz 'epoch' + at * interval '1 millisecond', account_id, key_id, method, endpoint, model, status, error_code, is_stream,
         input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, charge, duration_ms,
         first_byte_ms, client_request_id, end_user, metadata, task_id, attempts
    from json_to_recordset(p_rows) as r (
      id text, at bigint, account_id text, key_id text, method text, endpoint text, model text, status smallint,
      error_code text, is_stream boolean, input_tokens bigint, cached_input_tokens bigint, output_tokens bigint,
      reasoning_tokens bigint, charge numeric, duration_ms integer, first_byte_ms integer, client_request_id text,
      end_user text, metadata jsonb, task_id text, attempts jsonb)
  on conflict do nothing
$$;
