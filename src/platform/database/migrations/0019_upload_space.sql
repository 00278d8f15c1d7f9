-- How much of an account's space an upload may still take, until its size is known.
alter table file add column reserved_bytes bigint check (reserved_bytes > 0);

create index file_space on file (account_id) include (expires_at, bytes, reserved_bytes)
  where origin = 'upload';

/*
 * Writes an upload down if the most it may take fits into the space of its account: null then, else what is
 * taken already. One at a time for an account, so that many at once do not all find the last of it.
 */
create function file_reserve(
  upload file, space bigint, hours int
) returns bigint language plpgsql as $$
declare
  taken bigint;
begin
  perform from account where id = upload.account_id for no key update;
  select coalesce(sum(coalesce(bytes, reserved_bytes)), 0) into taken
    from file
   where account_id = upload.account_id and origin = 'upload' and expires_at > now();
  if taken + upload.reserved_bytes > space then
    return taken;
  end if;
  insert into file
    (id, account_id, origin, store, filename, mime_type, kind, reserved_bytes, expires_at)
  values
    (upload.id, upload.account_id, 'upload', upload.store, upload.filename, upload.mime_type,
     upload.kind, upload.reserved_bytes, now() + make_interval(hours => hours));
  return null;
end $$;
