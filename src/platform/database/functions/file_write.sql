-- Inserts rows of new outputs (`insert`), and makes files visible whose bytes are stored (`complete`), many in one
-- statement. Ids within one call must differ. Answers the files that are visible now; one whose row has expired is
-- left out.
-- Locks nothing but what it writes.
create or replace function file_write(doc json, intake interval) returns setof file
language plpgsql
-- The tables grow from nothing to millions of rows between two updates of their statistics; the queries
-- here always read a handful of rows by key.
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
  insert into file (id, account_id, origin, task_id, store, filename, mime_type, kind, expires_at)
  select c.id, c.account_id, c.origin, c.task_id, c.store, c.filename, c.mime_type, c.kind, now() + intake
    from json_to_recordset(doc -> 'insert')
      as c (id text, account_id text, origin text, task_id text, store text, filename text, mime_type text, kind text);
  return query
  update file f
     set bytes = c.bytes, sha256 = c.sha256, width = c.width, height = c.height, duration_ms = c.duration_ms,
         ready_at = now(), expires_at = now() + make_interval(days => c.keep_days)
    from json_to_recordset(doc -> 'complete')
      as c (id text, bytes bigint, sha256 text, width int, height int, duration_ms bigint, keep_days int)
   where f.id = c.id and f.id = any (array(select v ->> 'id' from json_array_elements(doc -> 'complete') v))
     and f.ready_at is null and f.expires_at > now()
  returning f.*;
end $$;
