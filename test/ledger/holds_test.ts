import assert from "node:assert/strict";
import { runItems } from "../../src/domain/ledger/item.ts";
import { holdItem } from "../../src/domain/ledger/hold.ts";
import { asking, costing, openLedger } from "../helpers/open_ledger.ts";
import { isShort, money, systemBalance } from "../helpers/ledger_looks.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

Deno.test("a hold reserves and moves nothing", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10" });
  await using _hold = await ledger.hold(asking({ account: ledger.account, amount: "3" }));
  assert.deepEqual(await money(ledger), {
    available: "7.00",
    frozen: "3.00",
    cash: "10.00",
    gift: "0.00",
  });
  assert.equal(await systemBalance(ledger, "revenue"), "0");
  await ledger.mustBeSound();
});

Deno.test(
  "available is cash plus credits minus frozen, and cash and credits include their frozen part",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10" });
    await ledger.gift("2");
    await using _hold = await ledger.hold(asking({ account: ledger.account, amount: "5" }));
    assert.deepEqual(await money(ledger), {
      available: "7.00",
      frozen: "5.00",
      cash: "10.00",
      gift: "2.00",
    });
  },
);

Deno.test(
  "a hold above the available balance fails with insufficient_balance and stores nothing",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "1" });
    await using _hold = await ledger.hold(asking({ account: ledger.account, amount: "0.4" }));
    await assert.rejects(
      ledger.hold(asking({ id: "req_big", account: ledger.account, amount: "0.61" })),
      isShort,
    );
    assert.equal((await ledger.sql`select from hold where id = 'req_big'`).length, 0);
    assert.deepEqual(await money(ledger), {
      available: "0.60",
      frozen: "0.40",
      cash: "1.00",
      gift: "0.00",
    });
  },
);

Deno.test(
  "a hold that does not fit fails alone: a smaller one after it succeeds",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "1" });
    const { account } = ledger;
    const wanted = [["req_a", "0.6"], ["req_b", "0.5"], ["req_c", "0.4"], [
      "req_d",
      "0.01",
    ]] as const;
    const outcomes = await runItems(
      ledger.sql,
      wanted.map(([id, amount]) => holdItem(asking({ id, account, amount }), 6)),
    );
    assert.deepEqual(
      outcomes.toSorted((a, b) => a.n - b.n).map(({ outcome }) => outcome),
      ["held", "insufficient", "held", "insufficient"],
    );
    assert.equal((await money(ledger)).available, "0.00");
    await ledger.mustBeSound();
  },
);

Deno.test("leaving the scope of a hold releases it", STRICT, async () => {
  await using ledger = await openLedger({ cash: "1" });
  const failing = async () => {
    await using _hold = await ledger.hold(asking({ account: ledger.account, amount: "0.5" }));
    throw new Error("upstream failed");
  };
  await assert.rejects(failing(), /upstream failed/);
  assert.deepEqual(await money(ledger), {
    available: "1.00",
    frozen: "0.00",
    cash: "1.00",
    gift: "0.00",
  });
});

Deno.test("a hold that was kept or settled outlives its scope", STRICT, async () => {
  await using ledger = await openLedger({ cash: "1" });
  const hand = async () => {
    await using hold = await ledger.hold(asking({ account: ledger.account, amount: "0.5" }));
    return hold.keep();
  };
  const kept = await hand();
  assert.equal((await money(ledger)).frozen, "0.50");
  await kept.settle(costing("0.2"));
  {
    await using hold = await ledger.hold(asking({ account: ledger.account, amount: "0.5" }));
    await hold.settle(costing("0.3"));
  }
  assert.deepEqual(await money(ledger), {
    available: "0.50",
    frozen: "0.00",
    cash: "0.50",
    gift: "0.00",
  });
  await ledger.mustBeSound();
});

Deno.test("the same hold id again finds the same hold", STRICT, async () => {
  await using ledger = await openLedger({ cash: "1" });
  const request = asking({ id: "req_1", account: ledger.account, amount: "0.5" });
  const first = (await ledger.hold(request)).keep();
  const again = (await ledger.hold(request)).keep();
  assert.deepEqual([first.state, again.state], ["open", "open"]);
  assert.equal((await money(ledger)).frozen, "0.50");
  await first.settle(costing("0.5"));
  assert.equal((await ledger.hold(request)).keep().state, "settled");
  assert.equal((await money(ledger)).available, "0.50");
});

Deno.test("the same hold id for another amount or account is a conflict", STRICT, async () => {
  await using ledger = await openLedger({ cash: "1" });
  const other = await ledger.newAccount("1");
  (await ledger.hold(asking({ id: "req_1", account: ledger.account, amount: "0.5" }))).keep();
  for (const [account, amount] of [[ledger.account, "0.4"], [other, "0.5"]] as const) {
    await assert.rejects(
      ledger.hold(asking({ id: "req_1", account, amount })),
      /held for something else/,
    );
  }
  await ledger.mustBeSound();
});
