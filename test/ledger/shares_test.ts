import assert from "node:assert/strict";
import fc from "fast-check";
import { addFractions, decimal, type Fraction, fraction } from "../../src/lib/money.ts";
import { ApiError } from "../../src/lib/api_error.ts";
import { readFunds } from "../../src/domain/ledger/balance.ts";
import { isCovered, payFrom } from "../../src/domain/pricing/funds.ts";
import type { QuotaShare } from "../../src/domain/pricing/quote.ts";
import { asking, costing, openLedger, type TestLedger } from "../helpers/open_ledger.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const START = "2026-01-31T12:00:00Z";

interface Parts {
  text?: [units: number, amount: string];
  image?: [units: number, amount: string];
  video?: [units: number, amount: string];
  /** For money only. */
  rest: string;
}

function sharesOf({ rest: _, ...kinds }: Parts): QuotaShare[] {
  return Object.entries(kinds).map(([kind, [units, amount]]) => ({
    kind: kind as QuotaShare["kind"],
    units: BigInt(units),
    amount: fraction(amount),
  }));
}

function totalOf(parts: Parts): Fraction {
  return [...sharesOf(parts).map(({ amount }) => amount), fraction(parts.rest)].reduce(
    addFractions,
  );
}

async function hold(ledger: TestLedger, parts: Parts) {
  const request = asking({ account: ledger.account, amount: totalOf(parts) });
  const quote = { ...request.quote, shares: sharesOf(parts) };
  return (await ledger.hold({ ...request, quote })).keep();
}

const charge = (parts: Parts) => ({ ...costing(totalOf(parts)), shares: sharesOf(parts) });

/** On the plan with 1,000 tokens, 10 images and 60 seconds. */
async function openPlanned(cash: string) {
  const ledger = await openLedger({ cash, clock: START });
  await ledger.setPlan("pro");
  return ledger;
}

const left = async (ledger: TestLedger) => {
  const { quotas, available_balance, frozen_balance } = await ledger.balance();
  return [quotas.text, quotas.image, quotas.video, available_balance, frozen_balance];
};

Deno.test(
  "quotas of several kinds pay for one request, each its share, and money the rest",
  STRICT,
  async () => {
    await using ledger = await openPlanned("10");
    const most: Parts = { text: [2000, "2"], image: [4, "0.4"], video: [10, "5"], rest: "1" };
    const opened = await hold(ledger, most);
    // Half of the tokens, all images and seconds: 1 for the other tokens, 1 for the rest.
    assert.deepEqual(await left(ledger), [0, 6, 50, "8.00", "2.00"]);
    const { taken } = await opened.settle(
      charge({ text: [500, "0.6"], image: [2, "0.2"], video: [10, "5"], rest: "0.5" }),
    );
    assert.equal(taken, "0.50");
    assert.deepEqual(await left(ledger), [500, 8, 50, "9.50", "0.00"]);
    await ledger.mustBeSound();
  },
);

Deno.test("what quotas cannot pay is for money, in proportion to the units", STRICT, async () => {
  await using ledger = await openPlanned("10");
  const opened = await hold(ledger, { image: [30, "3"], rest: "0" });
  assert.deepEqual(await left(ledger), [1000, 0, 60, "8.00", "2.00"]);
  // 10 of 15 by quota; a third of 1.6 is rounded.
  const { taken } = await opened.settle(charge({ image: [15, "1.6"], rest: "0" }));
  assert.equal(taken, "0.533333");
  assert.deepEqual(await left(ledger), [1000, 0, 60, "9.466667", "0.00"]);
  await ledger.mustBeSound();
});

Deno.test(
  "a request whose quotas and money are not enough holds nothing, and a release returns all",
  STRICT,
  async () => {
    await using ledger = await openPlanned("1");
    const most: Parts = { text: [2000, "2"], image: [4, "0.4"], rest: "0.000001" };
    await assert.rejects(
      hold(ledger, most),
      (error) => error instanceof ApiError && error.code === "insufficient_balance",
    );
    assert.deepEqual(await left(ledger), [1000, 10, 60, "1.00", "0.00"]);
    const opened = await hold(ledger, { ...most, rest: "0" });
    assert.deepEqual(await left(ledger), [0, 6, 60, "0.00", "1.00"]);
    await opened.release();
    assert.deepEqual(await left(ledger), [1000, 10, 60, "1.00", "0.00"]);
    await ledger.mustBeSound();
  },
);

Deno.test("a quote says what the quotas of each kind would pay", STRICT, async () => {
  await using ledger = await openPlanned("2");
  const parts: Parts = { text: [2000, "2"], image: [4, "0.4"], rest: "1" };
  const quote = { kind: null, units: 0n, amount: totalOf(parts), shares: sharesOf(parts) };
  const funds = await readFunds(ledger.sql, ledger.account);
  assert.deepEqual(payFrom(funds, quote, 6), {
    ...{ quota: 1004, gift: "0.00", cash: "2.00", missing: "0.00" },
  });
  assert.equal(isCovered(funds, quote, 6), true);
  const more = { ...quote, amount: addFractions(quote.amount, fraction("0.000001")) };
  assert.equal(isCovered(funds, more, 6), false);
});

const units = fc.integer({ min: 1, max: 3000 });
const cents = fc.integer({ min: 0, max: 500 });
/** What costs nothing takes no quota. */
const part = fc.option(fc.tuple(units, fc.integer({ min: 1, max: 500 })), { nil: undefined });

Deno.test(
  "whatever the shares, a settlement within its maximum fits its hold, and the ledger is sound",
  STRICT,
  async () => {
    await using ledger = await openPlanned("100000");
    const kinds = fc.record({ text: part, image: part, video: part, rest: cents });
    const used = fc.record({
      text: fc.nat(100),
      image: fc.nat(100),
      video: fc.nat(100),
      rest: fc.nat(100),
    });
    const amount = (cents: number) => (cents / 100).toFixed(2);
    const partsOf = (
      { rest, ...most }: { rest: number } & Record<string, number | [number, number] | undefined>,
      of: Record<string, number>,
    ): Parts => ({
      rest: amount(Math.floor(rest * of.rest! / 100)),
      ...Object.fromEntries(
        Object.entries(most).flatMap(([kind, given]) => {
          if (given === undefined) return [];
          const [units, price] = given as [number, number];
          const count = Math.floor(units * of[kind]! / 100);
          // Fewer units may be the dearer ones, but never cost more than all.
          return count === 0 ? [] : [[kind, [count, amount(price)]]];
        }),
      ),
    });
    const all = { text: 100, image: 100, video: 100, rest: 100 };
    await fc.assert(
      fc.asyncProperty(kinds, used, async (most, of) => {
        // New quotas, of which earlier runs have used nothing.
        await ledger.setPlan("free");
        await ledger.setPlan("pro");
        const funds = await readFunds(ledger.sql, ledger.account);
        const parts = partsOf(most, all);
        const before = await ledger.balance();
        const opened = await hold(ledger, parts);
        const quote = { kind: null, units: 0n, amount: totalOf(parts), shares: sharesOf(parts) };
        const held = decimal((await ledger.balance()).frozen_balance);
        assert.equal(held, decimal(payFrom(funds, quote, 6).cash), "the quote and the hold agree");
        const actual = partsOf(most, of);
        const { taken, shortfall } = await opened.settle(charge(actual));
        assert.equal(shortfall, "0.00");
        assert.ok(decimal(taken) <= held);
        const after = await ledger.balance();
        for (const kind of ["text", "image", "video"] as const) {
          const paid = before.quotas[kind] - after.quotas[kind];
          assert.equal(paid, Math.min(before.quotas[kind], actual[kind]?.[0] ?? 0), kind);
        }
      }),
      { numRuns: 60 },
    );
    await ledger.mustBeSound();
  },
);
