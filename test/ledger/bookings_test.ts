import assert from "node:assert/strict";
import { addCredit, adjustBalance } from "../../src/domain/ledger/credit.ts";
import { runItems } from "../../src/domain/ledger/item.ts";
import { asking, costing, openLedger } from "../helpers/open_ledger.ts";
import { money, systemBalance } from "../helpers/ledger_looks.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const START = "2026-01-31T12:00:00Z";

Deno.test(
  "the same credit reference books once; with another amount, kind or expiry it is rejected",
  STRICT,
  async () => {
    await using ledger = await openLedger({ clock: START });
    const { sql, account } = ledger;
    const once = {
      account,
      kind: "gift",
      amount: "10.00",
      reference: "welcome",
      expiresAt: new Date("2026-06-01"),
    } as const;
    assert.deepEqual(await addCredit(sql, once), { isFirst: true });
    assert.deepEqual(await addCredit(sql, { ...once, amount: "10" }), { isFirst: false });
    for (
      const other of [{ amount: "11" }, { kind: "cash", expiresAt: undefined }, {
        expiresAt: undefined,
      }] as const
    ) {
      await assert.rejects(addCredit(sql, { ...once, ...other }), {
        code: "invalid_value",
        param: "reference",
      });
    }
    assert.equal((await money(ledger)).gift, "10.00");
    await ledger.mustBeSound();
  },
);

Deno.test("invalid credits are rejected", STRICT, async () => {
  await using ledger = await openLedger({ clock: START });
  const { sql, account } = ledger;
  for (const amount of ["0", "-1", "1e3", "", "1.0000000000001", "abc"]) {
    await assert.rejects(addCredit(sql, { account, kind: "cash", amount, reference: "r" }), {
      param: "amount",
    });
  }
  const past = {
    account,
    kind: "gift",
    amount: "1",
    reference: "r",
    expiresAt: new Date("2026-01-01"),
  } as const;
  await assert.rejects(addCredit(sql, past), { param: "expires_at" });
  await assert.rejects(addCredit(sql, { ...past, kind: "cash" }), { param: "expires_at" });
  await assert.rejects(
    addCredit(sql, { account: "acc_none", kind: "cash", amount: "1", reference: "r" }),
    {
      code: "not_found",
    },
  );
});

Deno.test("an adjustment is booked once and never takes what is frozen", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10" });
  const { sql, account } = ledger;
  await using _hold = await ledger.hold(asking({ account, amount: "6" }));
  const down = { account, amount: "-4", reference: "a1", reason: "charged back" };
  assert.deepEqual(await adjustBalance(sql, down), { isFirst: true });
  assert.deepEqual(await adjustBalance(sql, down), { isFirst: false });
  await assert.rejects(adjustBalance(sql, { ...down, amount: "-3" }), { param: "reference" });
  await assert.rejects(adjustBalance(sql, { ...down, reference: "a2", amount: "-0.01" }), {
    code: "insufficient_balance",
  });
  await adjustBalance(sql, { ...down, reference: "a3", amount: "0.5" });
  assert.deepEqual(await money(ledger), {
    available: "0.50",
    frozen: "6.00",
    cash: "6.50",
    gift: "0.00",
  });
  assert.equal(await systemBalance(ledger, "adjustment"), "3.5");
  await ledger.mustBeSound();
});

Deno.test(
  "a negative charge is rejected by the gateway and by the database",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10" });
    const { sql, account } = ledger;
    const hold = (await ledger.hold(asking({ account, amount: "3" }))).keep();
    await assert.rejects(async () => await hold.settle(costing("-1")), RangeError);
    await assert.rejects(
      async () => await ledger.hold(asking({ account, amount: "-1" })),
      RangeError,
    );
    const charge = { op: "settle", id: hold.id, num: "-1", den: "1", units: "0" } as const;
    await assert.rejects(runItems(sql, [charge]), /hold_takes_no_debt|violates check/);
    assert.deepEqual(await money(ledger), {
      available: "7.00",
      frozen: "3.00",
      cash: "10.00",
      gift: "0.00",
    });
    await ledger.mustBeSound();
  },
);

Deno.test("amounts of 20 digits and 12 decimals survive every step", STRICT, async () => {
  await using ledger = await openLedger({ scale: 12 });
  const { sql, account } = ledger;
  const most = "99999999999999999999.999999999999";
  await addCredit(sql, { account, kind: "cash", amount: most, reference: "much" });
  assert.equal((await money(ledger)).cash, most);
  const hold = await ledger.hold(asking({ account, amount: most }));
  assert.deepEqual(await money(ledger), {
    available: "0.00",
    frozen: most,
    cash: most,
    gift: "0.00",
  });
  const resolution = await hold.settle(costing("99999999999999999999.999999999998"));
  assert.equal(resolution.taken, "99999999999999999999.999999999998");
  assert.equal((await money(ledger)).cash, "0.000000000001");
  await addCredit(sql, { account, kind: "gift", amount: most, reference: "more" });
  assert.equal((await money(ledger)).available, "100000000000000000000.00");
  await assert.rejects(
    addCredit(sql, { account, kind: "cash", amount: most, reference: "too much" }),
    {
      code: "invalid_value",
    },
  );
  await ledger.mustBeSound();
});
