import assert from "node:assert/strict";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { asking, costing, openLedger } from "../helpers/open_ledger.ts";
import { systemBalance } from "../helpers/ledger_looks.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const START = "2026-01-31T12:00:00Z";

Deno.test("an account without a paid plan is on free, which never expires", STRICT, async () => {
  await using ledger = await openLedger();
  assert.deepEqual((await ledger.balance()).plan, { name: "free", expires_at: null });
});

Deno.test("an account that is opened on a plan has its quotas at once", STRICT, async () => {
  await using ledger = await openLedger();
  const { id } = await createAccount(ledger.sql, { name: "bought", plan: "pro" });
  const { quotas, plan } = await ledger.balance(id);
  assert.deepEqual(quotas, { text: 1000, image: 10, video: 60 });
  assert.deepEqual(plan, { name: "pro", expires_at: null });
  await ledger.mustBeSound();
});

Deno.test(
  "a plan grants its quotas, and the same plan again grants nothing twice",
  STRICT,
  async () => {
    await using ledger = await openLedger({ clock: START });
    await ledger.setPlan("pro");
    await ledger.hold(asking({ account: ledger.account, amount: "1", units: 400, kind: "text" }))
      .then((hold) => hold.settle(costing("1", 400)));
    await ledger.setPlan("pro");
    assert.deepEqual((await ledger.balance()).quotas, { text: 600, image: 10, video: 60 });
    // Only its end moves; the quotas end with it.
    await ledger.setPlan("pro", "2026-02-10T00:00:00Z");
    assert.deepEqual((await ledger.balance()).quotas, { text: 600, image: 10, video: 60 });
    assert.deepEqual((await ledger.balance()).plan, {
      name: "pro",
      expires_at: "2026-02-10T00:00:00.000Z",
    });
    await ledger.mustBeSound();
  },
);

Deno.test(
  "another plan ends the old quotas as breakage; frozen parts stay with their holds",
  STRICT,
  async () => {
    await using ledger = await openLedger({ clock: START });
    await ledger.setPlan("pro");
    const hold = await ledger.hold(
      asking({ account: ledger.account, amount: "1", units: 400, kind: "text" }),
    );
    await ledger.setPlan("team");
    assert.deepEqual((await ledger.balance()).quotas, { text: 5000, image: 0, video: 0 });
    assert.equal(await systemBalance(ledger, "quota_breakage"), String(600 + 10 + 60));
    await hold.settle(costing("0.5", 200));
    assert.deepEqual((await ledger.balance()).quotas, { text: 5000, image: 0, video: 0 });
    assert.equal(await systemBalance(ledger, "quota_breakage"), String(600 + 10 + 60 + 200));
    assert.equal(await systemBalance(ledger, "quota_used"), "200");
    await ledger.mustBeSound();
  },
);

Deno.test(
  "quotas renew every month from the day the plan began, also after shorter months",
  STRICT,
  async () => {
    await using ledger = await openLedger({ clock: START }); // 31 January
    await ledger.setPlan("pro");
    const useAll = async () => {
      const hold = await ledger.hold(
        asking({ account: ledger.account, amount: "1", units: 1000, kind: "text" }),
      );
      await hold.settle(costing("1", 1000));
    };
    await useAll();
    const textAt = async (moment: string) => {
      await ledger.setClock(moment);
      await ledger.sweep();
      return (await ledger.balance()).quotas.text;
    };
    assert.equal(await textAt("2026-02-28T11:59:59Z"), 0);
    assert.equal(await textAt("2026-02-28T12:00:00Z"), 1000);
    await useAll();
    assert.equal(await textAt("2026-03-31T11:59:59Z"), 0);
    assert.equal(await textAt("2026-03-31T12:00:00Z"), 1000);
    // Half a year without a request: one month's quota, not six.
    assert.equal(await textAt("2026-10-15T00:00:00Z"), 1000);
    assert.equal(
      (await ledger.sql`select from balance_bucket where source = 'quota' and unit = 'text'`)
        .length,
      4,
    );
    await ledger.mustBeSound();
  },
);

Deno.test(
  "renewed quotas are there in the first second of the month, before any sweeper",
  STRICT,
  async () => {
    await using ledger = await openLedger({ clock: START });
    await ledger.setPlan("pro");
    await ledger.setClock("2026-02-28T12:00:00Z");
    assert.equal((await ledger.balance()).quotas.text, 1000);
    const hold = await ledger.hold(
      asking({ account: ledger.account, amount: "1", units: 900, kind: "text" }),
    );
    assert.equal((await ledger.balance()).quotas.text, 100);
    assert.equal(await systemBalance(ledger, "quota_breakage"), String(1000 + 10 + 60));
    await hold.release();
    await ledger.mustBeSound();
  },
);

Deno.test(
  "a plan that ends leaves the account on free, with its quotas expired",
  STRICT,
  async () => {
    await using ledger = await openLedger({ clock: START });
    await ledger.setPlan("pro", "2026-02-10T00:00:00Z");
    await ledger.setClock("2026-02-10T00:00:00Z");
    const expected = {
      quotas: { text: 0, image: 0, video: 0 },
      plan: { name: "free", expires_at: null },
    };
    const seen = async () => {
      const { quotas, plan } = await ledger.balance();
      return { quotas, plan };
    };
    assert.deepEqual(await seen(), expected);
    assert.deepEqual(await ledger.sweep(), { holds: 0, buckets: 3, plans: 1 });
    assert.deepEqual(await seen(), expected);
    const [row] = await ledger.sql`select plan, plan_expires_at from account`;
    assert.deepEqual({ ...row }, { plan: "free", plan_expires_at: null });
    assert.equal(await systemBalance(ledger, "quota_breakage"), String(1000 + 10 + 60));
    await ledger.mustBeSound();
  },
);

Deno.test("a plan cannot be set for an unknown account or into the past", STRICT, async () => {
  await using ledger = await openLedger({ clock: START });
  await assert.rejects(ledger.setPlan("pro", undefined, "acc_none"), { code: "not_found" });
  await assert.rejects(ledger.setPlan("pro", "2026-01-01T00:00:00Z"), {
    code: "invalid_value",
    param: "expires_at",
  });
  assert.equal((await ledger.balance()).plan.name, "free");
});
