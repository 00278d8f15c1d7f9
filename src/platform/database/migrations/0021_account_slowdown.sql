-- An account whose requests repeatedly come to more than it can pay is slowed for a while.
alter table account add column slowed_until timestamptz;

create index hold_shortfall on hold (account_id, resolved_at) where shortfall > 0;
