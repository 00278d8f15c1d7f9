import assert from "node:assert/strict";
import { HoldRenewer } from "../../src/domain/ledger/hold_renewer.ts";
import { findReceipt, listUsage } from "../../src/domain/ledger/statement.ts";
import { asking, costing, openLedger } from "../helpers/open_ledger.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const START = Date.parse("2026-01-31T12:00:00Z");

/** A ledger whose clock and the process's own go together. */
async function open() {
  let seconds = 0;
  const renewer = new HoldRenewer(() => seconds * 1000);
  const ledger = await openLedger({ cash: "10", clock: new Date(START).toISOString(), renewer });
  return {
    ledger,
    renewer,
    pass: async (more: number) => {
      seconds += more;
      await ledger.setClock(new Date(START + seconds * 1000).toISOString());
    },
    hold: async (ttlSeconds = 960) =>
      (await ledger.hold({
        ...asking({ account: ledger.account, amount: "3", ttlSeconds }),
        isRenewed: true,
      })).keep(),
    statusOf: async (id: string) =>
      (await findReceipt(ledger.sql, ledger.account, id, "USD"))!.status,
    /** What the usage API lists. */
    receipts: async () => {
      const query = { account: ledger.account, limit: 100, order: "asc" } as const;
      const { data } = await listUsage(ledger.sql, query, "USD");
      return data.map(({ id, status, settled, shortfall }) => [id, status, settled, shortfall]);
    },
    expiry: async (id: string) => {
      const [row] = await ledger.sql<[{ expires_at: Date }]>`
        select expires_at from hold where id = ${id}`;
      return (row.expires_at.getTime() - START) / 1000;
    },
    [Symbol.asyncDispose]: () => ledger[Symbol.asyncDispose](),
  };
}

Deno.test(
  "a renewed hold lasts as long as its process runs, and is charged",
  STRICT,
  async () => {
    await using run = await open();
    const { ledger } = run;
    const hold = await run.hold();
    for (let waited = 0; waited < 600; waited += 25) {
      await run.pass(25);
      await ledger.renew();
      assert.equal((await ledger.sweep()).holds, 0);
    }
    const { isFirst, taken } = await hold.settle(costing("1.5"));
    assert.deepEqual([isFirst, taken], [true, "1.50"]);
    assert.equal(run.renewer.size, 0);
    await ledger.mustBeSound();
  },
);

Deno.test(
  "holds of a process that died are resolved within a minute, by their last checkpoint",
  STRICT,
  async () => {
    await using run = await open();
    const { ledger } = run;
    const [checkpointed, silent] = [await run.hold(), await run.hold()];
    await run.pass(25);
    await ledger.renew();
    await checkpointed.checkpoint(costing("0.75"));
    await run.pass(59);
    assert.equal((await ledger.sweep()).holds, 0);
    await run.pass(1);
    assert.equal((await ledger.sweep()).holds, 2);
    assert.deepEqual([await run.statusOf(checkpointed.id), await run.statusOf(silent.id)], [
      "settled",
      "expired",
    ]);
    assert.equal((await ledger.balance()).frozen_balance, "0.00");
    await ledger.mustBeSound();
  },
);

Deno.test(
  "a hold resolved within twenty seconds is never renewed, and none is renewed for ever",
  STRICT,
  async () => {
    await using run = await open();
    const { ledger } = run;
    const quick = await run.hold();
    await run.pass(19);
    await ledger.renew();
    assert.equal(await run.expiry(quick.id), 60);
    await quick.release();
    const forgotten = await run.hold(100);
    for (let waited = 0; waited < 120; waited += 20) {
      await run.pass(20);
      await ledger.renew();
    }
    assert.equal(run.renewer.size, 0);
    assert.equal(await run.expiry(forgotten.id), 19 + 80 + 60);
    const short = await run.hold(5);
    assert.equal(await run.expiry(short.id), 19 + 120 + 5);
  },
);

Deno.test(
  "a locked hold is skipped and renewed the next time",
  STRICT,
  async () => {
    await using run = await open();
    const { ledger } = run;
    const [one, other] = [await run.hold(), await run.hold()];
    await run.pass(20);
    if (ledger.database.kind === "server") {
      await ledger.sql.begin(async (sql) => {
        await sql`select from hold where id = ${one.id} for update`;
        await ledger.renew();
      });
      assert.deepEqual([await run.expiry(one.id), await run.expiry(other.id)], [60, 80]);
    }
    await run.pass(5);
    await ledger.renew();
    assert.equal(await run.expiry(one.id), 85);
  },
);

Deno.test(
  "a request served after the sweeper resolved its hold is charged anyway, once",
  STRICT,
  async () => {
    await using run = await open();
    const { ledger } = run;
    const hold = await run.hold();
    await run.pass(120);
    assert.equal((await ledger.sweep()).holds, 1);
    assert.equal(await run.statusOf(hold.id), "expired");
    const late = await hold.settle(costing("1.5"));
    assert.deepEqual([late.state, late.isFirst, late.taken], ["settled", true, "1.50"]);
    const again = await hold.settle(costing("1.5"));
    assert.deepEqual([again.isFirst, again.taken], [false, "1.50"]);
    assert.equal((await ledger.balance()).available_balance, "8.50");
    assert.equal((await ledger.balance()).frozen_balance, "0.00");
    assert.deepEqual(await run.receipts(), [[hold.id, "settled", "1.50", "0.00"]]);
    await ledger.mustBeSound();
  },
);

Deno.test(
  "what the account can no longer pay at a late settlement is a reported shortfall",
  STRICT,
  async () => {
    await using run = await open();
    const { ledger } = run;
    const hold = await run.hold();
    await run.pass(120);
    await ledger.sweep();
    const other = asking({ account: ledger.account, amount: "9" });
    await (await ledger.hold(other)).settle(costing("9"));
    const late = await hold.settle(costing("1.5"));
    assert.deepEqual([late.state, late.taken, late.shortfall], ["settled", "1.00", "0.50"]);
    assert.deepEqual(ledger.exceeded.map(({ id, shortfall }) => [id, shortfall]), [[
      hold.id,
      "0.50",
    ]]);
    assert.equal((await ledger.balance()).available_balance, "0.00");
    await ledger.mustBeSound();
  },
);
