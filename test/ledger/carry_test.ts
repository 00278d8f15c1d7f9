import assert from "node:assert/strict";
import fc from "fast-check";
import { decimal, formatDecimal, type Fraction } from "../../src/lib/money.ts";
import { money } from "../helpers/ledger_looks.ts";
import { asking, costing, openLedger, type TestLedger } from "../helpers/open_ledger.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

async function charge(
  ledger: TestLedger,
  amount: string | Fraction,
  { held = amount, account = ledger.account }: { held?: string | Fraction; account?: string } = {},
): Promise<string> {
  const hold = await ledger.hold(asking({ account, amount: held }));
  return (await hold.settle(costing(amount))).taken;
}

Deno.test(
  "charges below the currency's smallest unit add up instead of vanishing",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", scale: 2 });
    const taken = [];
    for (let i = 0; i < 10; i++) taken.push(await charge(ledger, "0.004"));
    assert.deepEqual(taken, [
      "0.00",
      "0.01",
      "0.00",
      "0.01",
      "0.00",
      "0.00",
      "0.01",
      "0.00",
      "0.01",
      "0.00",
    ]);
    assert.equal((await money(ledger)).cash, "9.96");
    await ledger.mustBeSound();
  },
);

Deno.test("charges that share a statement carry over to each other", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10", scale: 2 });
  const other = await ledger.newAccount("10");
  const all = await Promise.all(
    Array.from(
      { length: 100 },
      (_, at) => charge(ledger, "0.004", { account: at % 2 === 0 ? ledger.account : other }),
    ),
  );
  assert.equal(all.reduce((sum, taken) => sum + decimal(taken), 0n), decimal("0.40"));
  assert.equal((await ledger.balance()).cash_balance, "9.80");
  assert.equal((await ledger.balance(other)).cash_balance, "9.80");
  await ledger.mustBeSound();
});

Deno.test(
  "an amount within the currency's scale is charged exactly, again and again",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", scale: 6 });
    for (let i = 0; i < 5; i++) assert.equal(await charge(ledger, "0.123456"), "0.123456");
    const [row] = await ledger.sql<[{ carry: string }]>`
    select trim_scale(carry) as carry from balance_bucket where id = ${`cash:${ledger.account}`}`;
    assert.equal(row.carry, "0");
  },
);

Deno.test(
  "the next charges make up for what rounding charged too much",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", scale: 2 });
    const taken = [];
    for (let i = 0; i < 5; i++) taken.push(await charge(ledger, "0.006"));
    assert.deepEqual(taken, ["0.01", "0.00", "0.01", "0.00", "0.01"]);
  },
);

Deno.test("carried rounding differences never take more than the hold", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10", scale: 2 });
  assert.equal(await charge(ledger, "0.0049"), "0.00");
  // A finer scale from here on: a hold of a millionth leaves no room for what a cent's rounding held back.
  ledger.scale = 6;
  assert.equal(await charge(ledger, "0.000001"), "0.000001");
  assert.equal(await charge(ledger, "0.000001", { held: "0.002" }), "0.002");
  assert.equal(await charge(ledger, "0.000001", { held: "1" }), "0.002902");
  assert.equal(await charge(ledger, "0.000001", { held: "1" }), "0.000001");
  assert.deepEqual(ledger.exceeded, []);
  await ledger.mustBeSound();
});

Deno.test("a request paid by quota carries no rounding difference", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10", scale: 2 });
  await ledger.setPlan("pro");
  const hold = await ledger.hold(
    asking({ account: ledger.account, amount: "0.004", units: 400, kind: "text" }),
  );
  await hold.settle(costing("0.004", 400));
  assert.equal(await charge(ledger, "0.004"), "0.00", "as a first charge");
});

Deno.test("the sum of charges is the exact sum of dues to within half a unit", STRICT, async () => {
  await using ledger = await openLedger({ scale: 2 });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(0, 2, 6),
      fc.array(
        fc.record({
          num: fc.oneof(fc.bigInt(0n, 50n), fc.bigInt(0n, 50_000n)),
          den: fc.constantFrom(1_000n, 600n, 7_001n, 10n ** 9n),
        }),
        { minLength: 1, maxLength: 30 },
      ),
      async (scale, dues) => {
        ledger.scale = scale;
        const account = await ledger.newAccount("1000000");
        let charged = 0n;
        let [num, den] = [0n, 1n];
        for (const due of dues) {
          charged += decimal(await charge(ledger, due, { account }));
          [num, den] = [num * due.den + due.num * den, den * due.den];
        }
        const off = num * 10n ** 12n - charged * den;
        const unit = 10n ** BigInt(12 - scale) * den;
        // Each step is kept to 10⁻¹⁸.
        assert.ok(2n * (off < 0n ? -off : off) <= unit + den / 1000n, `${formatDecimal(charged)}`);
      },
    ),
    { numRuns: 40 },
  );
  await ledger.mustBeSound();
});
