import assert from "node:assert/strict";
import type { Sql } from "postgres";
import { idPrefixAt, newId } from "../../src/lib/ids.ts";
import {
  AUDIT_TABLE,
  createMissingPartitions,
  RECEIPT_TABLE,
  TRANSFER_TABLE,
} from "../../src/platform/database/partitioned_tables.ts";
import { createPartitions, dropPartitions } from "../../src/platform/database/partitions.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const PARTITIONED = [RECEIPT_TABLE, TRANSFER_TABLE, AUDIT_TABLE];
const APPEND_ONLY = ["audit_entry", "receipt", "receipt_correction", "receipt_part", "transfer"];
const REJECTED = { code: "23001", message: /never changed or removed/ };
const MAY = "2026-05-05T00:00:00Z";
/** Of a month that has no partition. */
const LONG_AGO = "2020-01-01T00:00:00Z";

/** A row in each append-only table, of a moment. */
async function writeRows(sql: Sql, moment: string): Promise<void> {
  const id = newId("req", Date.parse(moment));
  const receipt = `
    (id, account_id, request_id, model, state, scale, amount, units, allocations, held, taken, shortfall, beyond_hold,
     price, created_at, resolved_at, batch)
    values ('${id}', 'acc_1', '${id}', 'm', 'settled', 6, 5, 0, array['cash:acc_1'], array[2], array[1], 0, false,
            '{}', '${moment}', '${moment}', gen_random_uuid())`;
  await sql.unsafe(`
    insert into receipt ${receipt};
    insert into receipt_correction ${receipt};
    insert into receipt_part (receipt_id, position, stage, model, amount) values ('${id}', 1, 'drama', 'm', 1);
    insert into transfer (id, unit, debit, credit, amount, account_id, kind, created_at)
    values ('${id}/1', 'money', 'topup', 'cash:acc_1', 10, 'acc_1', 'credit', '${moment}');
    insert into audit_entry (id, created_at, actor_kind, via, action, request_id)
    values ('${id}', '${moment}', 'root', 'api', 'account.credit', '${id}')`);
}

/** A database with the partitions of May, and rows in them and in the default ones. */
async function openFilled() {
  await using parts = new AsyncDisposableStack();
  const fresh = parts.use(await freshDatabase());
  const { sql } = parts.use(await fresh.open());
  await createPartitions(sql, PARTITIONED, { now: new Date(MAY) });
  await writeRows(sql, MAY);
  await writeRows(sql, LONG_AGO);
  const open = parts.move();
  return { sql, [Symbol.asyncDispose]: () => open[Symbol.asyncDispose]() };
}

async function partitionsOf(sql: Sql, table: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = ${table}::regclass order by 1`;
  return rows.map(({ name }) => name);
}

async function countRows(sql: Sql, table: string): Promise<number> {
  const [{ n }] = await sql.unsafe<[{ n: number }]>(`select count(*)::int as n from ${table}`);
  return n;
}

const changesOf = (table: string) => [
  `update ${table} set created_at = created_at`,
  `delete from ${table}`,
  `truncate ${table}`,
];

async function mustReject(sql: Sql, table: string): Promise<void> {
  for (const change of changesOf(table)) {
    await assert.rejects(async () => await sql.unsafe(change), REJECTED, change);
  }
}

Deno.test(
  "an append-only table rejects every change, and so does each of its partitions",
  STRICT,
  async () => {
    await using filled = await openFilled();
    const { sql } = filled;
    for (const table of APPEND_ONLY) {
      const partitions = await partitionsOf(sql, table);
      const isPartitioned = PARTITIONED.some((each) => each.table === table);
      assert.equal(partitions.includes(`${table}_2026_05`), isPartitioned);
      assert.equal(partitions.includes(`${table}_default`), isPartitioned);
      for (const name of [table, ...partitions]) {
        // A change of rows is rejected where there is one.
        const changes = await countRows(sql, name) === 0 ? [`truncate ${name}`] : changesOf(name);
        for (const change of changes) {
          await assert.rejects(async () => await sql.unsafe(change), REJECTED, change);
        }
      }
      assert.equal(await countRows(sql, table), 2, table);
    }
  },
);

Deno.test("every table whose comment says append-only is one of them", STRICT, async () => {
  await using fresh = await freshDatabase();
  await using database = await fresh.open();
  const rows = await database.sql<{ name: string }[]>`
    select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and obj_description(oid, 'pg_class') ~* 'append-only'
     order by 1`;
  assert.deepEqual(rows.map(({ name }) => name), APPEND_ONLY);
});

Deno.test(
  "rows leave a default partition for their month, and are as safe there and after it",
  STRICT,
  async () => {
    await using filled = await openFilled();
    const { sql } = filled;
    await createMissingPartitions(sql, { isStart: true });
    for (const { table } of PARTITIONED) {
      assert.equal(await countRows(sql, `${table}_default`), 0);
      assert.equal(await countRows(sql, `${table}_2020_01`), 1);
      await mustReject(sql, `${table}_2020_01`);
    }
    await writeRows(sql, "2019-01-01T00:00:00Z");
    for (const { table } of PARTITIONED) await mustReject(sql, `${table}_default`);
  },
);

Deno.test(
  "what lets rows leave a default partition allows no update, and nothing elsewhere",
  STRICT,
  async () => {
    await using filled = await openFilled();
    const { sql } = filled;
    for (const { table } of PARTITIONED) {
      const meanwhile = (statement: string) =>
        sql.begin(async (tx) => {
          await tx`select set_config('tollgate.removes_from', ${`${table}_default`}, true)`;
          await tx.unsafe(statement);
        });
      for (
        const change of [
          `update ${table}_default set created_at = created_at`,
          `truncate ${table}_default`,
          ...[table, `${table}_2026_05`].flatMap(changesOf),
        ]
      ) await assert.rejects(meanwhile(change), REJECTED, change);
    }
  },
);

Deno.test(
  "months of the audit log over their time are dropped, with late entries of the default partition",
  STRICT,
  async () => {
    await using filled = await openFilled();
    const { sql } = filled;
    const keepSince = new Date("2026-04-01T00:00:00Z");
    assert.deepEqual(await dropPartitions(sql, [AUDIT_TABLE], { keepSince }), []);
    assert.equal(await countRows(sql, "audit_entry_default"), 0);
    assert.equal(await countRows(sql, "audit_entry_2026_05"), 1);
    const later = new Date("2026-06-01T00:00:00Z");
    const dropped = await dropPartitions(sql, [AUDIT_TABLE], { keepSince: later });
    assert.deepEqual(dropped, ["audit_entry_2026_05"]);
  },
);

Deno.test(
  "a partition that a node of an earlier build creates rejects changes, and truncate after the next round",
  STRICT,
  async () => {
    await using filled = await openFilled();
    const { sql } = filled;
    for (const { table, idPrefix } of PARTITIONED) {
      const [from, to] = ["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"].map((moment) =>
        idPrefix === undefined ? moment : idPrefixAt(idPrefix, Date.parse(moment))
      );
      const column = idPrefix === undefined ? "created_at" : "id";
      await sql.unsafe(`
        create table ${table}_2026_01 (like ${table} including defaults including constraints);
        with moved as (
          delete from ${table}_default where ${column} >= '${from}' and ${column} < '${to}' returning *)
        insert into ${table}_2026_01 select * from moved;
        alter table ${table} attach partition ${table}_2026_01 for values from ('${from}') to ('${to}')`);
    }
    await writeRows(sql, "2026-01-05T00:00:00Z");
    for (const { table } of PARTITIONED) {
      for (const change of changesOf(`${table}_2026_01`).slice(0, 2)) {
        await assert.rejects(async () => await sql.unsafe(change), REJECTED, change);
      }
    }
    await createMissingPartitions(sql);
    for (const { table } of PARTITIONED) await mustReject(sql, `${table}_2026_01`);
  },
);
