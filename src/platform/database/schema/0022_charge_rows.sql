-- Charges that are booked all at once come as rows: see ledger_charge.

drop function if exists ledger_batch(json, json);
drop function if exists ledger_charge(charge_columns, timestamptz, uuid);
drop function if exists ledger_charge_items(charge_columns, uuid);
drop type charge_columns;
