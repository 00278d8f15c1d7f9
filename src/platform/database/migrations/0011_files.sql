-- Uploads and outputs. The bytes lie in a folder or a bucket under the row's id; the row is written first,
-- so that there are never bytes that no row knows of.
create table file (
  id          text primary key,
  account_id  text not null references account,
  origin      text not null check (origin in ('upload', 'output')),
  -- The task that made it. No foreign key: tasks and files are kept for different times.
  task_id     text,
  store       text not null check (store in ('local', 's3')),
  filename    text not null check (char_length(filename) between 1 and 255),
  mime_type   text not null,
  kind        text not null check (kind in ('image', 'audio', 'video')),
  -- What is only known at the end of the bytes.
  bytes       bigint check (bytes > 0),
  sha256      text check (sha256 ~ '^[0-9a-f]{64}$'),
  width       integer check (width > 0),
  height      integer check (height > 0),
  duration_ms bigint check (duration_ms > 0),
  created_at  timestamptz not null default now(),
  -- Null while the bytes are still coming: nobody sees it yet.
  ready_at    timestamptz,
  -- From this moment on nobody sees it any more, and the cleaner takes row and bytes away. Deleting a file
  -- moves it to now; an upload that is never finished has it too.
  expires_at  timestamptz not null,
  -- When a cleaner took it on: another may after a while, should that one have died.
  cleaning_at timestamptz,
  check (ready_at is null or (bytes is not null and sha256 is not null)),
  check ((origin = 'output') = (task_id is not null))
);

create index file_account on file (account_id, id) where ready_at is not null;
create index file_expiry on file (expires_at);
create index file_task on file (task_id) where task_id is not null;

-- What addresses of content are signed with, the newest; older ones are honoured for as long as an address
-- they signed may work. To change it: insert into content_secret default values.
create table content_secret (
  number     bigint generated always as identity primary key,
  secret     bytea not null default
    decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'),
  created_at timestamptz not null default now()
);

insert into content_secret default values;
