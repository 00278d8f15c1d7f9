-- The audit log: what operators and members changed. Partitioned by month, with created_at as the key; a month that is
-- over its time is dropped. src/platform/database/partitions.ts creates the partitions.

create table audit_entry (
  id          text collate "C" not null,
  created_at  timestamptz not null,
  actor_kind  text not null check (actor_kind in ('root', 'admin_token', 'operator', 'member')),
  actor_id    text,
  actor_name  text,
  via         text not null check (via in ('api', 'cli', 'console')),
  action      text not null,
  account_id  text,
  subject     text,
  before      json,
  after       json,
  request_id  text not null,
  primary key (created_at, id)
) partition by range (created_at);

comment on table audit_entry is
  E'The audit log: one row for each action of an operator or a member, written in the transaction of the action. '
  'Append-only.\nBound: `logs.audit_keep_days`, then until the end of the month: a month is dropped.';
comment on column audit_entry.id is 'Begins with the time in created_at, so that entries sort by it.';
comment on column audit_entry.actor_kind is
  'root: the root token. admin_token: a token with scopes. operator: a person on the pages for operators. member: a '
  'person, about their own account.';
comment on column audit_entry.actor_id is 'The admin token or the person. Null: the root token.';
comment on column audit_entry.actor_name is 
  'The name of the token. Null for a person, who may be deleted: the address is looked up when the log is read.';
comment on column audit_entry.action is 'What was done, such as `account.credit`.';
comment on column audit_entry.account_id is 'The account that it concerns. No foreign key: an entry outlives everything.';
comment on column audit_entry.subject is 'The id of what was changed: an account, a key, a webhook endpoint.';
comment on column audit_entry.before is 'The fields that changed, as they were. Never a secret. Null: it did not exist.';
comment on column audit_entry.after is 'The same fields as they are now. Null: it is gone.';
comment on column audit_entry.request_id is 'The request that did it, as in the log.';

create index audit_entry_account on audit_entry (account_id, created_at) where account_id is not null;

create table audit_entry_default partition of audit_entry default;
