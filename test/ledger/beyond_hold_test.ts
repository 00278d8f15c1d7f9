import assert from "node:assert/strict";
import { decimal, formatDecimal } from "../../src/lib/money.ts";
import { findReceipt } from "../../src/domain/ledger/statement.ts";
import { verifyLedger } from "../../src/domain/ledger/verify.ts";
import { damageReceipts, money, systemBalance } from "../helpers/ledger_looks.ts";
import {
  type Asked,
  asking,
  costing,
  openLedger,
  type TestLedger,
} from "../helpers/open_ledger.ts";
import { settleIn } from "../helpers/ledger_in.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const START = "2026-01-31T12:00:00Z";

const beyond = (asked: Asked) => ({ ...asking(asked), beyondHold: true });

async function amountsOf(ledger: TestLedger, id: string) {
  const receipt = (await findReceipt(ledger.sql, ledger.account, id, "USD"))!;
  const { status, held, settled, released, shortfall, from } = receipt;
  return { status, held, settled, released, shortfall, from };
}

Deno.test("usage beyond the hold is charged to the balance", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10" });
  const hold = (await ledger.hold(beyond({ account: ledger.account, amount: "1" }))).keep();
  const resolution = await hold.settle(costing("3.5"));
  assert.deepEqual([resolution.taken, resolution.shortfall, resolution.isBeyondHold], [
    "3.50",
    "0.00",
    true,
  ]);
  assert.deepEqual(ledger.exceeded.map(({ id, account }) => [id, account]), [
    [hold.id, ledger.account],
  ]);
  assert.deepEqual(await hold.settle(costing("9")), { ...resolution, isFirst: false });
  assert.deepEqual(await amountsOf(ledger, hold.id), {
    status: "settled",
    held: "1.00",
    settled: "3.50",
    released: "0.00",
    shortfall: "0.00",
    from: { quota: 0, gift: "0.00", cash: "3.50" },
  });
  assert.equal((await money(ledger)).cash, "6.50");
  assert.equal(await systemBalance(ledger, "revenue"), "3.5");
  await ledger.mustBeSound();
});

Deno.test(
  "what the balance does not cover is the receipt's shortfall, and other holds keep their frozen amounts",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10" });
    const { account } = ledger;
    const other = (await ledger.hold(asking({ account, amount: "6" }))).keep();
    const hold = await ledger.hold(beyond({ account, amount: "1" }));
    await hold.settle(costing("9.25"));
    assert.deepEqual(await amountsOf(ledger, hold.id), {
      status: "settled",
      held: "1.00",
      settled: "4.00",
      released: "0.00",
      shortfall: "5.25",
      from: { quota: 0, gift: "0.00", cash: "4.00" },
    });
    assert.deepEqual(await money(ledger), {
      available: "0.00",
      frozen: "6.00",
      cash: "6.00",
      gift: "0.00",
    });
    await other.settle(costing("6"));
    assert.equal((await money(ledger)).cash, "0.00");
    assert.equal(await systemBalance(ledger, "revenue"), "15.25");
    assert.equal(await systemBalance(ledger, "shortfall"), "-5.25");
    await ledger.mustBeSound();
  },
);

Deno.test("without beyond_hold a settlement takes at most the hold", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10" });
  const hold = await ledger.hold(asking({ account: ledger.account, amount: "1" }));
  await hold.settle(costing("3.5"));
  const { settled, shortfall } = await amountsOf(ledger, hold.id);
  assert.deepEqual([settled, shortfall], ["1.00", "2.50"]);
  assert.equal((await money(ledger)).cash, "9.00");
  await ledger.mustBeSound();
});

Deno.test(
  "beyond the hold, quota pays first, then credits by soonest expiry, then cash",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", clock: START });
    const { account } = ledger;
    await ledger.gift("0.30", "2026-03-01T00:00:00Z");
    await ledger.gift("0.20", "2026-02-15T00:00:00Z");
    await ledger.setPlan("pro"); // 1,000 tokens
    const hold = await ledger.hold(beyond({ account, amount: "0.4", units: 400, kind: "text" }));
    // 2,000 tokens for 2.00: 400 were held of the quota, which has 600 more; 1.00 is left for money.
    const resolution = await hold.settle(costing("2", 2000));
    assert.deepEqual([resolution.quota, resolution.taken, resolution.shortfall], [
      1000n,
      "1.00",
      "0.00",
    ]);
    const { from, released } = await amountsOf(ledger, hold.id);
    assert.deepEqual([from, released], [{ quota: 1000, gift: "0.50", cash: "0.50" }, "0.00"]);
    const taken = await ledger.sql<{ gift: string }[]>`
    select trim_scale(amount) as gift from movement
     where request_id = ${hold.id} and debit like 'gift:%' order by length(id), id`;
    assert.deepEqual(taken.map(({ gift }) => gift), ["0.2", "0.3"], "the gift that ends first");
    await ledger.mustBeSound();
  },
);

Deno.test("quota takes no more beyond the hold than its money leaves", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10", clock: START });
  const { account } = ledger;
  const hold = await ledger.hold(beyond({ account, amount: "1", units: 1000, kind: "text" }));
  await ledger.setPlan("pro"); // granted after the hold, which money covers
  const resolution = await hold.settle(costing("1.25", 1250));
  assert.deepEqual([resolution.quota, resolution.taken], [250n, "1.00"]);
  assert.equal((await ledger.balance()).quotas.text, 750);
  await ledger.mustBeSound();
});

Deno.test(
  "a credit that expired while the request ran pays nothing beyond the hold",
  STRICT,
  async () => {
    await using ledger = await openLedger({ clock: START });
    await ledger.gift("5", "2026-02-01T00:00:00Z");
    const hold = await ledger.hold(beyond({ account: ledger.account, amount: "1" }));
    await ledger.setClock("2026-02-02T00:00:00Z");
    await hold.settle(costing("2"));
    const { settled, shortfall } = await amountsOf(ledger, hold.id);
    assert.deepEqual([settled, shortfall], ["1.00", "1.00"]);
    await ledger.sweep();
    await ledger.mustBeSound();
  },
);

Deno.test(
  "the sweeper settles a checkpoint beyond the hold, the oldest hold first",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "3", clock: START });
    const { account } = ledger;
    const ids = ["req_2", "req_1"];
    for (const [at, id] of ids.entries()) {
      const asked = { id, account, amount: "1", ttlSeconds: 60 + at };
      const hold = (await ledger.hold(beyond(asked))).keep();
      await hold.checkpoint(costing("1.75"));
    }
    await ledger.setClock("2026-01-31T12:05:00Z");
    assert.equal((await ledger.sweep()).holds, 2);
    const amounts = await Promise.all(ids.map((id) => amountsOf(ledger, id)));
    assert.deepEqual(amounts.map(({ settled, shortfall }) => [settled, shortfall]), [
      ["1.75", "0.00"],
      ["1.25", "0.50"],
    ]);
    assert.deepEqual(ledger.exceeded.map(({ shortfall }) => shortfall).sort(), ["0.00", "0.50"]);
    await ledger.mustBeSound();
  },
);

Deno.test(
  "a request served after its hold expired is charged as far as the balance goes, once",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "2", clock: START });
    const { account } = ledger;
    const hold = (await ledger.hold(beyond({ account, amount: "1", ttlSeconds: 60 }))).keep();
    await ledger.setClock("2026-01-31T12:05:00Z");
    await ledger.sweep();
    const late = await hold.settle(costing("3"));
    assert.deepEqual([late.state, late.taken, late.shortfall], ["settled", "2.00", "1.00"]);
    assert.deepEqual(await hold.settle(costing("3")), { ...late, isFirst: false });
    const { status, settled, shortfall } = await amountsOf(ledger, hold.id);
    assert.deepEqual([status, settled, shortfall], ["settled", "2.00", "1.00"]);
    await ledger.mustBeSound();
  },
);

Deno.test(
  "50 settlements beyond their holds at once take the whole balance and never more",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "60" });
    const { account } = ledger;
    const holds = await Promise.all(
      Array.from(
        { length: 50 },
        async () => (await ledger.hold(beyond({ account, amount: "1" }))).keep(),
      ),
    );
    let open = true;
    const seen: string[] = [];
    const watching = (async () => {
      while (open) seen.push((await money(ledger)).available);
    })();
    // Half of them share statements, half have a transaction each; every one is asked for twice.
    const settled = await Promise.all(holds.flatMap(({ id }, at) => {
      const settle = () =>
        at % 2 === 0
          ? ledger.settle(id, costing("1.7"), account)
          : ledger.sql.begin((tx) => settleIn(tx, id, costing("1.7")));
      return [settle(), settle()];
    }));
    open = false;
    await watching;
    const first = settled.filter(({ isFirst }) => isFirst);
    assert.equal(first.length, 50);
    const sum = (pick: "taken" | "shortfall") =>
      formatDecimal(first.reduce((total, resolution) => total + decimal(resolution[pick]), 0n));
    assert.deepEqual([sum("taken"), sum("shortfall")], ["60.00", "25.00"]);
    assert.ok(seen.every((available) => decimal(available) >= 0n));
    assert.deepEqual(await money(ledger), {
      available: "0.00",
      frozen: "0.00",
      cash: "0.00",
      gift: "0.00",
    });
    assert.equal(await systemBalance(ledger, "revenue"), "85");
    await ledger.mustBeSound();
  },
);

Deno.test("verify finds captures beyond the hold that are not allowed", STRICT, async (t) => {
  const damages: [name: string, damage: string][] = [
    ["by a hold that takes at most what it holds", "update receipt set beyond_hold = false"],
    ["before the hold was used up", "update receipt set taken[1] = 0.5, taken[2] = taken[2] + 0.5"],
    [
      "a shortfall before the hold was used up",
      "update receipt set taken[1] = 0.5, shortfall = 0.5",
    ],
  ];
  for (const [name, damage] of damages) {
    await t.step(name, async () => {
      await using ledger = await openLedger({ cash: "10" });
      const hold = await ledger.hold(beyond({ account: ledger.account, amount: "1" }));
      await hold.settle(costing("3"));
      await ledger.mustBeSound();
      await damageReceipts(ledger, damage);
      const { checks } = await verifyLedger(ledger.sql);
      assert.equal(checks.find(({ name }) => name === "captured is at most held")!.ok, false);
    });
  }
});
