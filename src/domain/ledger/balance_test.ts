import assert from "node:assert/strict";
import { asking, openLedger } from "../../../test/helpers/open_ledger.ts";
import { isCovered, payFrom } from "../pricing/funds.ts";
import { availableBalances, readBalance, readFunds } from "./balance.ts";

const START = "2026-01-31T12:00:00Z";

Deno.test("a quote is covered by quota first, and then to the smallest part of the currency", async () => {
  await using ledger = await openLedger({ cash: "1", clock: START });
  const { sql, account } = ledger;
  await ledger.setPlan("pro");
  const can = async (amount: string, units = 0, kind: "image" | null = null) =>
    isCovered(await readFunds(sql, account), asking({ account, amount, units, kind }).quote, 6);
  assert.equal(await can("1"), true);
  assert.equal(await can("1.000001"), false);
  assert.equal(await can("1.0000001"), false, "rounded up");
  // Ten images are in the plan.
  assert.equal(await can("99", 10, "image"), true);
  assert.equal(await can("2", 20, "image"), true, "half of it is money");
  assert.equal(await can("2.2", 20, "image"), false);
  assert.equal(await can("0.5", 0, "image"), true, "nothing is counted");
  assert.equal(await can("1.04", 20), false, "no quota is asked for");
});

Deno.test("a payment takes quota, then credits, then cash, and says what is missing", async () => {
  await using ledger = await openLedger({ cash: "1", clock: START });
  const { sql, account } = ledger;
  await ledger.setPlan("pro");
  await ledger.gift("0.50");
  const pay = async (amount: string, units = 0, kind: "image" | null = null) =>
    payFrom(await readFunds(sql, account), asking({ account, amount, units, kind }).quote, 6);
  const none = { quota: 0, gift: "0.00", cash: "0.00", missing: "0.00" };
  assert.deepEqual(await pay("0.40"), { ...none, gift: "0.40" });
  assert.deepEqual(await pay("0.75"), { ...none, gift: "0.50", cash: "0.25" });
  assert.deepEqual(await pay("2"), { ...none, gift: "0.50", cash: "1.00", missing: "0.50" });
  assert.deepEqual(await pay("1", 20, "image"), { ...none, quota: 10, gift: "0.50" });
});

Deno.test("a balance has cash, gifts, quotas and the plan with its end", async () => {
  await using ledger = await openLedger({ cash: "5", clock: START });
  const { sql, account } = ledger;
  await ledger.gift("2.50");
  await ledger.setPlan("team");
  await ledger.hold(asking({ account, amount: "0.40" }));
  assert.deepEqual(await readBalance(sql, account, "EUR"), {
    object: "balance",
    currency: "EUR",
    available_balance: "7.10",
    frozen_balance: "0.40",
    cash_balance: "5.00",
    gift_balance: "2.50",
    quotas: { text: 5000, image: 0, video: 0 },
    plan: { name: "team", expires_at: null },
  });
  await ledger.setPlan("pro", "2026-03-01T00:00:00Z");
  const { plan, quotas } = await readBalance(sql, account, "EUR");
  assert.deepEqual(plan, { name: "pro", expires_at: "2026-03-01T00:00:00.000Z" });
  assert.deepEqual(quotas, { text: 1000, image: 10, video: 60 });
  await assert.rejects(readBalance(sql, "acc_none", "EUR"), { code: "not_found" });

  const other = await ledger.newAccount("0.10");
  const available = await availableBalances(sql, [account, other, "acc_none"]);
  assert.deepEqual(available, new Map([[account, "7.10"], [other, "0.10"]]));
});
