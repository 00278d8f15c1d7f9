-- Whether this transaction may do one kind of background work. Any number of nodes may ask; one at a time may.
-- Locks the kind of work until the end of the transaction, without waiting.
create or replace function ledger_try_sweep_lock(kind text) returns boolean language sql as $$
  select pg_try_advisory_xact_lock(hashtextextended('tollgate sweep ' || kind, 0))
$$;
