import assert from "node:assert/strict";
import { findReceipt } from "../../src/domain/ledger/statement.ts";
import { newId } from "../../src/lib/ids.ts";
import { createMissingPartitions } from "../../src/platform/database/partitioned_tables.ts";
import { asking, costing, openLedger, type TestLedger } from "../helpers/open_ledger.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

async function rowsPerPartition({ sql }: TestLedger, table: "receipt" | "transfer") {
  const rows = await sql<{ name: string; n: number }[]>`
    select tableoid::regclass::text as name, count(*)::int as n from ${
    sql(table)
  } group by 1 order by 1`;
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
}

/** Books a request that is accepted and settled at a moment. */
async function chargeAt(ledger: TestLedger, moment: string): Promise<string> {
  await ledger.setClock(moment);
  const id = newId("req", Date.parse(moment));
  const hold = await ledger.hold(asking({ id, account: ledger.account, amount: "2" }));
  await hold.settle(costing("1"));
  return id;
}

Deno.test(
  "receipts and transfers go to the partition of their month, made ahead",
  STRICT,
  async () => {
    await using ledger = await openLedger({ clock: "2026-01-31T12:00:00Z" });
    const made = await createMissingPartitions(ledger.sql);
    for (const table of ["receipt", "transfer", "webhook_delivery"]) {
      const months = ["2026_01", "2026_02", "2026_03"].map((month) => `${table}_${month}`);
      assert.deepEqual(made.filter((name) => months.includes(name)), months);
    }
    assert.deepEqual(await createMissingPartitions(ledger.sql), [], "they exist");
    await ledger.gift("10");
    for (
      const moment of [
        "2026-01-31T23:59:59.999Z",
        "2026-02-01T00:00:00Z",
        "2026-02-28T12:00:00Z",
        "2026-03-31T23:59:59.999Z",
      ]
    ) await chargeAt(ledger, moment);
    assert.deepEqual(await rowsPerPartition(ledger, "receipt"), {
      receipt_2026_01: 1,
      receipt_2026_02: 2,
      receipt_2026_03: 1,
    });
    assert.deepEqual(await rowsPerPartition(ledger, "transfer"), {
      transfer_2026_01: 2,
      transfer_2026_02: 2,
      transfer_2026_03: 1,
    });
    await ledger.mustBeSound();
  },
);

Deno.test(
  "a month without a partition is booked all the same, and moves at the next start",
  STRICT,
  async () => {
    await using ledger = await openLedger({ clock: "2026-01-31T12:00:00Z" });
    await createMissingPartitions(ledger.sql);
    await ledger.gift("10");
    // No gateway ran for months.
    const id = await chargeAt(ledger, "2026-09-09T00:00:00Z");
    assert.deepEqual(await rowsPerPartition(ledger, "receipt"), { receipt_default: 1 });
    const before = await findReceipt(ledger.sql, ledger.account, id, "EUR");
    assert.equal(before!.settled, "1.00");
    await ledger.setClock("2026-09-10T00:00:00Z");
    await createMissingPartitions(ledger.sql);
    assert.deepEqual(await rowsPerPartition(ledger, "receipt"), { receipt_default: 1 });
    await createMissingPartitions(ledger.sql, { isStart: true });
    assert.deepEqual(await rowsPerPartition(ledger, "receipt"), { receipt_2026_09: 1 });
    assert.deepEqual(await rowsPerPartition(ledger, "transfer"), {
      transfer_2026_01: 1,
      transfer_2026_09: 1,
    });
    assert.deepEqual(await findReceipt(ledger.sql, ledger.account, id, "EUR"), before);
    const again = await ledger.settle(id, costing("2"), ledger.account);
    assert.deepEqual([again.isFirst, again.taken], [false, "1.00"]);
    await ledger.mustBeSound();
  },
);

Deno.test("an id that was charged in an earlier month books nothing again", STRICT, async () => {
  await using ledger = await openLedger({ clock: "2026-01-31T23:59:00Z" });
  await createMissingPartitions(ledger.sql);
  await ledger.gift("10");
  const id = await chargeAt(ledger, "2026-01-31T23:59:59Z");
  await ledger.setClock("2026-03-01T00:00:00Z");
  const hold = await ledger.hold(asking({ id, account: ledger.account, amount: "2" }));
  assert.equal(hold.state, "settled");
  assert.equal((await hold.settle(costing("1"))).isFirst, false);
  assert.equal((await ledger.balance()).available_balance, "9.00");
  await ledger.mustBeSound();
});

Deno.test("an id begins with its moment, in the database as in the gateway", STRICT, async () => {
  await using ledger = await openLedger();
  for (const moment of [0, 1, Date.parse("2026-11-30T23:59:59.999Z"), 2 ** 47]) {
    const [row] = await ledger.sql<[{ id: string }]>`
      select ledger_id_at(to_timestamp(${moment}::float8 / 1000)) as id`;
    assert.equal(row.id, newId("req", moment).slice(0, row.id.length));
    assert.equal(row.id.length, "req_".length + 10);
  }
});
