import assert from "node:assert/strict";
import { verifyLedger } from "../../src/domain/ledger/verify.ts";
import { damageReceipts } from "../helpers/ledger_looks.ts";
import { asking, costing, openLedger } from "../helpers/open_ledger.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

Deno.test("verify finds every kind of damage and names it", STRICT, async (t) => {
  const damages: [name: string, damage: string][] = [
    [
      "every balance equals its transfers",
      "update balance_bucket set remaining = remaining + 1 where source = 'cash'",
    ],
    [
      "every balance equals its transfers",
      "insert into transfer (id, unit, debit, credit, amount, account_id, kind, created_at) select 'x', 'money', 'topup', 'cash:missing', 1, 'missing', 'credit', now()",
    ],
    [
      "frozen equals open holds and reserves",
      "update balance_bucket set frozen = frozen + 1 where source = 'cash'",
    ],
    ["frozen equals open holds and reserves", "delete from hold"],
    ["captured is at most held", "update receipt set taken = array[100]"],
    [
      "every capture of a batch equals its receipts",
      "update receipt set taken = array[0.5]",
    ],
    [
      "every capture of a batch equals its receipts",
      "update receipt set batch = gen_random_uuid()",
    ],
    ["every capture of a batch equals its receipts", "delete from receipt"],
    ["a hold resolves once", "update receipt set shortfall = 1"],
    ["a hold resolves once", "update hold set id = (select id from receipt)"],
    [
      "every capture of a batch equals its receipts",
      "insert into transfer select id || '/again', unit, debit, credit, amount, account_id, hold_id, kind, reference, reason, created_at, batch from transfer where kind = 'capture'",
    ],
    [
      "nothing is negative",
      "alter table hold drop constraint hold_reserves_no_debt; update hold set held = array[-1]",
    ],
    ["every account is on one plan", "update account set plan = 'pro'"],
    [
      "transfers of each unit sum to zero",
      "insert into transfer select 'y', 'text', credit, debit, amount, account_id, hold_id, kind, reference, reason, created_at from transfer where kind = 'capture'",
    ],
  ];
  for (const [name, damage] of damages) {
    await t.step(`${name}: ${damage.slice(0, 60)}`, async () => {
      await using ledger = await openLedger({ cash: "10" });
      const hold = await ledger.hold(asking({ account: ledger.account, amount: "3" }));
      await hold.settle(costing("1"));
      (await ledger.hold(asking({ account: ledger.account, amount: "2" }))).keep();
      const intact = await verifyLedger(ledger.sql);
      assert.ok(intact.ok, JSON.stringify(intact));
      await damageReceipts(ledger, damage);
      const { ok, checks } = await verifyLedger(ledger.sql);
      assert.equal(ok, false);
      assert.equal(checks.find((check) => check.name === name)!.ok, false, JSON.stringify(checks));
    });
  }
});
