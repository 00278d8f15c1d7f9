-- Inserts an upload if its maximum size fits into the account's storage and answers null; else answers the bytes in
-- use.
-- Locks the account's row: concurrent uploads of one account are checked one after the other.
create or replace function file_reserve(
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
