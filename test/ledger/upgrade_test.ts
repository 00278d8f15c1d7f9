import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Sql } from "postgres";
import { findReceipt } from "../../src/domain/ledger/statement.ts";
import { newId } from "../../src/lib/ids.ts";
import { verifyLedger } from "../../src/domain/ledger/verify.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import {
  createMissingPartitions,
  REQUEST_TABLES,
} from "../../src/platform/database/partitioned_tables.ts";
import { listPartitions } from "../../src/platform/database/partitions.ts";
import { readMigrations, SHIPPED_SQL } from "../../src/platform/database/read_sql_files.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

Deno.test(
  "holds that were resolved before receipts had a table become receipts",
  STRICT,
  async () => {
    await using fresh = await freshDatabase();
    await using database = await fresh.open();
    const { sql } = database;
    await applyFirst(fresh.dataDir, sql, 1);
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

Deno.test(
  "webhook events and deliveries of before are in the partitions of their months",
  STRICT,
  async () => {
    await using fresh = await freshDatabase();
    await using database = await fresh.open();
    const { sql } = database;
    await applyFirst(fresh.dataDir, sql, 3);
    const event = newId("evt", Date.parse("2026-05-05T00:00:00Z"));
    const delivery = `dlv_${event.slice(4)}01`;
    await sql.unsafe(`
    insert into account (id, name) values ('acc_1', 'old');
    insert into webhook_event (id, account_id, task_id, type, data) values ('${event}', 'acc_1', 'task_1', 't', '{}');
    insert into webhook_delivery (id, event_id, account_id, url, destination, wake_at, attempts)
    values ('${delivery}', '${event}', 'acc_1', 'https://a.example/', 'd', now(), 1);
    insert into webhook_attempt (delivery_id, number, started_at, latency_ms) values ('${delivery}', 1, now(), 5)`);
    const { applied } = await migrate(sql);
    assert.ok(applied.includes("0005_retention.sql"));
    await createMissingPartitions(sql, { isStart: true });
    const [place] = await sql`
    select e.tableoid::regclass::text as event, d.tableoid::regclass::text as delivery,
           a.tableoid::regclass::text as attempt
      from webhook_event e join webhook_delivery d on d.event_id = e.id
      join webhook_attempt a on a.delivery_id = d.id`;
    assert.deepEqual({ ...place }, {
      event: "webhook_event_2026_05",
      delivery: "webhook_delivery_2026_05",
      attempt: "webhook_attempt_2026_05",
    });
    const days = await listPartitions(sql, REQUEST_TABLES[0]);
    assert.ok(days.length >= 3, "days of the request log have their new names");
  },
);

Deno.test("receipts of before count as what their keys have spent", STRICT, async () => {
  await using fresh = await freshDatabase();
  await using database = await fresh.open();
  const { sql } = database;
  const files = (await readMigrations(SHIPPED_SQL.schema)).map(({ file }) => file);
  await applyFirst(fresh.dataDir, sql, files.findIndex((file) => file.endsWith("_key_spend.sql")));
  const columns =
    "id, account_id, request_id, model, state, scale, amount, units, allocations, held, taken, " +
    "shortfall, beyond_hold, price, created_at, resolved_at, batch, key_id";
  const values = (id: string, gift: string, createdAt: string, key = "'key_1'") => `
    ('${id}', 'acc_1', '${id}', 'm', 'settled', 6, 5, 0, array['quota:acc_1', 'gift:acc_1', 'cash:acc_1'],
     array[9, 2, 3], array[9, ${gift}, 0.5], 0, false, '{}', '${createdAt}', now(), gen_random_uuid(), ${key})`;
  await sql.unsafe(`
    insert into receipt (${columns}) values ${values("req_1", "1", "2026-05-05T23:59:59Z")},
      ${values("req_2", "2", "2026-05-05T00:00:00Z")}, ${
    values("req_3", "1.5", "2026-05-06T00:00:00Z")
  },
      ${values("req_4", "1", "2026-05-06T00:00:00Z", "null")};
    insert into receipt_correction (${columns}) values ${
    values("req_2", "1", "2026-05-05T00:00:00Z")
  }`);
  await migrate(sql);
  const rows = await sql`
    select key_id, day::text, trim_scale(amount)::text as amount from key_spend order by day`;
  assert.deepEqual(rows.map((row) => Object.values(row)), [
    ["key_1", "2026-05-05", "3"],
    ["key_1", "2026-05-06", "2"],
  ]);
});

Deno.test("months of before reject changes, and are not written again for it", STRICT, async () => {
  await using fresh = await freshDatabase();
  await using database = await fresh.open();
  const { sql } = database;
  await applyFirst(fresh.dataDir, sql, 26);
  const bounds = {
    receipt: [newId("req", 0), newId("req", 1e12)],
    transfer: ["2001-01-01", "2001-02-01"],
  };
  for (const [table, [from, to]] of Object.entries(bounds)) {
    await sql.unsafe(
      `create table ${table}_2001_01 partition of ${table} for values from ('${from}') to ('${to}')`,
    );
  }
  await sql`
    insert into transfer (id, unit, debit, credit, amount, account_id, kind, created_at)
    values ('credit:1', 'money', 'topup', 'cash:acc_1', 10, 'acc_1', 'credit', '2001-01-05')`;
  const readFiles = async () => [
    ...await sql`
      select relname, pg_relation_filenode(oid) as file from pg_class
       where relname in ('receipt_2001_01', 'transfer_2001_01', 'audit_entry_default') order by 1`,
  ];
  const before = await readFiles();
  const { applied } = await migrate(sql);
  assert.deepEqual(applied[0], "0027_append_only_partitions.sql");
  assert.deepEqual(await readFiles(), before);
  for (
    const change of [
      "update transfer_2001_01 set amount = 1",
      "delete from transfer_2001_01",
      "truncate transfer_2001_01",
      "truncate receipt_2001_01",
      "truncate receipt_default",
      "truncate audit_entry_default",
    ]
  ) await assert.rejects(async () => await sql.unsafe(change), /never changed or removed/, change);
});

/** An empty database with the first migrations only. */
async function applyFirst(dataDir: string, sql: Sql, count: number): Promise<void> {
  await sql`drop schema public cascade`;
  await sql`create schema public`;
  const folder = join(dataDir, "first");
  await Deno.mkdir(folder);
  for (const { file } of (await readMigrations(SHIPPED_SQL.schema)).slice(0, count)) {
    await Deno.copyFile(new URL(file, SHIPPED_SQL.schema), join(folder, file));
  }
  await migrate(sql, { schema: pathToFileURL(`${folder}/`) });
}
