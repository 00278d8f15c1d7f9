import assert from "node:assert/strict";
import { asking, costing, openLedger } from "../helpers/open_ledger.ts";
import { money, systemBalance } from "../helpers/ledger_looks.ts";
import { holdIn, releaseIn, settleIn } from "../helpers/ledger_in.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

Deno.test("settling takes what was used and returns the rest", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10" });
  const hold = await ledger.hold(asking({ account: ledger.account, amount: "3" }));
  const resolution = await hold.settle(costing("1.25"));
  assert.deepEqual(resolution, {
    id: hold.id,
    account: ledger.account,
    state: "settled",
    isFirst: true,
    held: "3.00",
    taken: "1.25",
    quota: 0n,
    shortfall: "0.00",
    isBeyondHold: false,
  });
  assert.deepEqual(await money(ledger), {
    available: "8.75",
    frozen: "0.00",
    cash: "8.75",
    gift: "0.00",
  });
  assert.equal(await systemBalance(ledger, "revenue"), "1.25");
  await ledger.mustBeSound();
});

Deno.test("settling to zero returns everything and books nothing", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10" });
  const hold = await ledger.hold(asking({ account: ledger.account, amount: "3" }));
  await hold.settle(costing("0"));
  assert.deepEqual(await money(ledger), {
    available: "10.00",
    frozen: "0.00",
    cash: "10.00",
    gift: "0.00",
  });
  assert.equal((await ledger.sql`select from movement where request_id = ${hold.id}`).length, 0);
});

Deno.test(
  "a hold rounds up and a capture rounds half up, once, to the currency's scale",
  STRICT,
  async () => {
    // Scale, exact amount, held, captured.
    const cases = [
      [2, "0.001", "0.01", "0.00"],
      [2, "0.005", "0.01", "0.01"],
      [2, "0.0049999", "0.01", "0.00"],
      [2, "0.015", "0.02", "0.02"],
      [6, "0.0000005", "0.000001", "0.000001"],
      [6, "0.00000049", "0.000001", "0.00"],
      [6, "0.1234565", "0.123457", "0.123457"],
      [0, "0.5", "1.00", "1.00"],
      [12, "0.000000000001", "0.000000000001", "0.000000000001"],
      [2, { num: 1n, den: 600n }, "0.01", "0.00"], // one second at 0.10 a minute
      [2, { num: 3n, den: 600n }, "0.01", "0.01"], // three: exactly half a cent
      [6, { num: 1n, den: 3n }, "0.333334", "0.333333"],
    ] as const;
    await using ledger = await openLedger();
    for (const [scale, amount, held, taken] of cases) {
      ledger.scale = scale;
      // An account each: what rounding holds back counts at the account's next settlement.
      const hold = await ledger.hold(asking({ account: await ledger.newAccount("1"), amount }));
      const resolution = await hold.settle(costing(amount));
      const name = `${held} at ${scale} decimals`;
      assert.deepEqual(
        [resolution.held, resolution.taken, resolution.shortfall],
        [held, taken, "0.00"],
        name,
      );
    }
    await ledger.mustBeSound();
  },
);

Deno.test(
  "an actual price above the hold takes the whole hold; the rest is booked as shortfall and reported",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10" });
    const hold = await ledger.hold(asking({ account: ledger.account, amount: "3" }));
    const resolution = await hold.settle(costing("3.5"));
    assert.deepEqual([resolution.taken, resolution.shortfall], ["3.00", "0.50"]);
    assert.deepEqual(ledger.exceeded.map(({ id, shortfall }) => ({ id, shortfall })), [{
      id: hold.id,
      shortfall: "0.50",
    }]);
    assert.equal((await money(ledger)).cash, "7.00");
    assert.equal(await systemBalance(ledger, "revenue"), "3.5");
    assert.equal(await systemBalance(ledger, "shortfall"), "-0.5");
    await ledger.mustBeSound();
  },
);

Deno.test(
  "a hold resolves once: later settlements and releases return the first result and book nothing",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10" });
    const settled = (await ledger.hold(asking({ account: ledger.account, amount: "3" }))).keep();
    const first = await settled.settle(costing("1"));
    for (const again of [await settled.settle(costing("2")), await settled.release()]) {
      assert.deepEqual(again, { ...first, isFirst: false });
    }
    const released = (await ledger.hold(asking({ account: ledger.account, amount: "3" }))).keep();
    await released.release();
    const late = await released.settle(costing("2"));
    assert.deepEqual([late.state, late.taken, late.isFirst], ["released", "0.00", false]);
    assert.equal((await money(ledger)).cash, "9.00");
    await ledger.mustBeSound();
  },
);

Deno.test("resolving what was never held is an error", STRICT, async () => {
  await using ledger = await openLedger();
  await assert.rejects(ledger.settle("req_none", costing("1")), /no such hold/);
  await assert.rejects(ledger.release("req_none"), /no such hold/);
  await assert.rejects(ledger.checkpoint("req_none", costing("1")), /no such hold/);
});

Deno.test("a settlement inside a transaction that rolls back books nothing", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10" });
  const { sql } = ledger;
  await assert.rejects(sql.begin(async (tx) => {
    await holdIn(tx, asking({ id: "req_lost", account: ledger.account, amount: "1" }));
    throw new Error("changed my mind");
  }));
  assert.equal((await money(ledger)).frozen, "0.00");
  await sql.begin((tx) =>
    holdIn(tx, asking({ id: "req_1", account: ledger.account, amount: "1" }))
  );
  await assert.rejects(sql.begin(async (tx) => {
    await settleIn(tx, "req_1", costing("1"));
    throw new Error("changed my mind");
  }));
  assert.equal((await money(ledger)).frozen, "1.00");
  const { taken } = await sql.begin((tx) => settleIn(tx, "req_1", costing("0.5")));
  assert.equal(taken, "0.50");
  assert.equal((await sql.begin((tx) => releaseIn(tx, "req_1"))).state, "settled");
  await ledger.mustBeSound();
});
