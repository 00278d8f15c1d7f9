import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createMissingPartitions } from "../../src/platform/database/partitioned_tables.ts";
import { findReceipt } from "../../src/domain/ledger/statement.ts";
import { verifyLedger } from "../../src/domain/ledger/verify.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { SHIPPED_SQL } from "../../src/platform/database/read_sql_files.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

Deno.test(
  "holds that were resolved before receipts had a table become receipts",
  STRICT,
  async () => {
    await using fresh = await freshDatabase();
    await using database = await fresh.open();
    const { sql } = database;
    await sql`drop schema public cascade`;
    await sql`create schema public`;
    const folder = join(fresh.dataDir, "baseline");
    await Deno.mkdir(folder);
    const baseline = "0001_baseline.sql";
    await Deno.copyFile(new URL(baseline, SHIPPED_SQL.schema), join(folder, baseline));
    await migrate(sql, { schema: pathToFileURL(`${folder}/`) });
    await sql.unsafe(`
    insert into account (id, name) values ('acc_1', 'old');
    insert into wallet (account_id) values ('acc_1');
    insert into plan_term (account_id, number, plan, starts_at) values ('acc_1', 1, 'free', now());
    insert into balance_bucket (id, account_id, source, unit, remaining, frozen, created_at)
    values ('cash:acc_1', 'acc_1', 'cash', 'money', 8.25, 2, now());
    insert into hold (id, account_id, request_id, model, state, scale, amount, units, allocations, held, taken,
                      shortfall, price, checkpoint, created_at, expires_at, resolved_at, ended_by)
    select 'req_' || n, 'acc_1', 'req_' || n, 'm', state, 6, 2, 0, array['cash:acc_1'], array[2], taken,
           case when state <> 'open' then 0 end, '{}', '{"num":"1","den":"1"}', '2026-05-05', now() + interval '1 hour',
           case when state <> 'open' then now() end, ended_by
      from (values (1, 'open', null::numeric[], null), (2, 'settled', array[1], null),
                   (3, 'expired', array[0], 'sweeper'), (4, 'settled', array[0.75], 'late')) h (n, state, taken, ended_by);
    insert into transfer (id, unit, debit, credit, amount, account_id, hold_id, kind, created_at)
    values ('credit:acc_1:x', 'money', 'topup', 'cash:acc_1', 10, 'acc_1', null, 'credit', '2026-05-01'),
           ('req_2/1', 'money', 'cash:acc_1', 'revenue', 1, 'acc_1', 'req_2', 'capture', '2026-05-05'),
           ('req_4/1', 'money', 'cash:acc_1', 'revenue', 1, 'acc_1', 'req_4', 'capture', '2026-05-05'),
           ('req_4/1/late', 'money', 'revenue', 'cash:acc_1', 0.25, 'acc_1', 'req_4', 'capture', '2026-05-05')`);
    const { applied } = await migrate(sql);
    assert.ok(applied.includes("0002_receipts.sql"));
    assert.ok((await createMissingPartitions(sql, { isStart: true })).includes("transfer_2026_05"));
    const { ok, checks } = await verifyLedger(sql);
    assert.ok(ok, JSON.stringify(checks));
    const settled = async (id: string) => {
      const { status, settled } = (await findReceipt(sql, "acc_1", id, "EUR"))!;
      return `${status} ${settled}`;
    };
    assert.deepEqual(await Promise.all(["req_1", "req_2", "req_3", "req_4"].map(settled)), [
      "open 0.00",
      "settled 1.00",
      "expired 0.00",
      "settled 0.75",
    ]);
  },
);
