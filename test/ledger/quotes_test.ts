import assert from "node:assert/strict";
import { readFunds } from "../../src/domain/ledger/balance.ts";
import { isCovered } from "../../src/domain/pricing/funds.ts";
import { chargeUsage, quoteUsage } from "../../src/domain/pricing/quote.ts";
import { priceFrom, type PriceSnapshot } from "../../src/domain/pricing/snapshot.ts";
import { openLedger, PRICE } from "../helpers/open_ledger.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const START = "2026-01-31T12:00:00Z";

Deno.test("the price is frozen when the request is accepted", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10" });
  const asked = quoteUsage({ id: "sim-chat", type: "chat" }, PRICE, {
    input_tokens: 1000,
    output_tokens: 1000,
  });
  const hold = await ledger.hold({
    id: "req_1",
    account: ledger.account,
    quote: asked,
    ttlSeconds: 60,
  });
  const [row] = await ledger.sql<[{ price: PriceSnapshot }]>`select price from hold`;
  assert.deepEqual(priceFrom(row.price), PRICE);
  // The settlement uses the stored price, whatever the configuration says by then.
  const { taken } = await hold.settle(
    chargeUsage({ price: priceFrom(row.price), kind: "text" }, { output_tokens: 500 }),
  );
  assert.equal(taken, "0.01");
});

Deno.test("a quote says whether the balance covers it, and books nothing", STRICT, async () => {
  await using ledger = await openLedger({ cash: "0.02", clock: START });
  const { sql, account } = ledger;
  await ledger.setPlan("pro");
  const ask = (output_tokens: number) =>
    quoteUsage({ id: "sim-chat", type: "chat" }, PRICE, { output_tokens });
  const funds = await readFunds(sql, account);
  assert.equal(isCovered(funds, ask(2000), 6), true); // 1,000 by quota, 0.02 for the others
  assert.equal(isCovered(funds, ask(2001), 6), false);
  assert.deepEqual((await ledger.balance()).quotas.text, 1000);
  assert.equal((await sql`select from hold`).length, 0);
});
