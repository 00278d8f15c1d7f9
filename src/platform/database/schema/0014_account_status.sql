-- Accounts can be suspended.

alter table account add column suspended_at timestamptz;

comment on column account.suspended_at is
  'Since when every request and session of the account is refused. Null: it is not suspended.';
comment on column account.closed_at is
  'When the account was closed, by an operator or by the person who deleted it. A closed account is refused '
  'everywhere, for ever.';
