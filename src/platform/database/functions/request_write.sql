-- request_write_rows, as nodes of earlier builds call it, for the time that nodes of both run: the rows are JSON, and `at`
-- is the time of the request in milliseconds.
-- Locks nothing.
create or replace function request_write(p_rows json, p_is_repeated boolean) returns void
language sql as $$
  select request_write_rows(
    array(
      select row(r.id, timestamptz 'epoch' + t.at * interval '1 millisecond', r.account_id, r.key_id, r.method,
                 r.endpoint, r.model, r.status, r.error_code, r.is_stream, r.input_tokens, r.cached_input_tokens,
                 r.output_tokens, r.reasoning_tokens, r.charge, r.duration_ms, r.first_byte_ms, r.client_request_id,
                 r.end_user, r.metadata, r.task_id, r.attempts)::request_row
        from json_array_elements(p_rows) as j (line),
             json_populate_record(null::request_row, line) r,
             json_to_record(line) as t (at bigint)),
    p_is_repeated)
$$;
