-- Holds come and go, and few are open at a time. To Postgres, which has seen the table nearly empty, any index with the id
-- was as good as the primary key: it read the whole index of accounts for each id, past every hold that had gone.

drop index hold_account;
create index hold_account on hold (account_id, created_at);
