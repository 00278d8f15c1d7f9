import assert from "node:assert/strict";
import { asking, openLedger } from "../../../test/helpers/open_ledger.ts";
import { availableBalances, covers, readBalance } from "./balance.ts";

const START = "2026-01-31T12:00:00Z";

Deno.test("a quote is covered by quota first, and then to the smallest part of the currency", async () => {
  await using ledger = await openLedger({ cash: "1", clock: START });
  const { sql, account } = ledger;
  await ledger.setPlan("pro");
  const can = (amount: string, units = 0, kind: "image" | null = null) =>
    covers(sql, account, asking({ account, amount, units, kind }).quote, 6);
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
