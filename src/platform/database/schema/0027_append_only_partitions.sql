-- Partitions of append-only tables refuse changes too: ../functions/ledger_reject_change.sql, audit_reject_change.sql and
-- partition_reject_truncate.sql create their triggers in this transaction. Earlier builds must not start on it any more:
-- they would move rows out of default partitions without asking.

-- All locks at once, in the order in which the ledger writes, and not for long: writers wait behind them, and a start that
-- does not get them tries again. Longer than the time after which Postgres cancels an automatic vacuum in the way.
set local lock_timeout = '2s';
lock table receipt, receipt_correction, receipt_part, transfer, audit_entry in share row exclusive mode;
set local lock_timeout to default;
