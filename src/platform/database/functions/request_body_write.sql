-- Writes bodies of requests, given as a JSON array of objects with the columns' names: `at` is the time of the request in
-- milliseconds, sealed bodies are in base64. A request whose bodies are there is left out.
-- Locks nothing.
create or replace function request_body_write(p_rows json) returns void
language sql as $$
  insert into request_body (id, created_at, request, request_bytes, response, response_bytes)
  select id, timestamptz 'epoch' + at * interval '1 millisecond', decode(request, 'base64'), request_bytes,
         decode(response, 'base64'), response_bytes
    from json_to_recordset(p_rows) as r (
      id text, at bigint, request text, request_bytes bigint, response text, response_bytes bigint)
   where not exists (
     select from request_body q
      where q.created_at = timestamptz 'epoch' + r.at * interval '1 millisecond' and q.id = r.id)
$$;
