import assert from "node:assert/strict";
import { findReceipt } from "../../src/domain/ledger/statement.ts";
import { asking, costing, openLedger } from "../helpers/open_ledger.ts";
import { isShort, money, systemBalance } from "../helpers/ledger_looks.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const START = "2026-01-31T12:00:00Z";

Deno.test(
  "the order of use is the kind's quota, then credits by soonest expiry, then cash",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", clock: START });
    await ledger.setPlan("pro");
    await ledger.gift("1"); // never expires: last of the gifts
    await ledger.gift("1", "2026-03-01T00:00:00Z");
    await ledger.gift("1", "2026-02-15T00:00:00Z");
    // 1,000 of 2,000 tokens are in the quota, so half of 8.00 is paid: three gifts and 1.00 of cash.
    const hold = await ledger.hold(
      asking({ account: ledger.account, amount: "8", units: 2000, kind: "text" }),
    );
    const [row] = await ledger.sql<[{ allocations: string[]; held: string[] }]>`
    select allocations, array(select trim_scale(h)::text from unnest(held) h) as held from hold`;
    const ends = await ledger.sql<
      { id: string; ends_at: Date | null }[]
    >`select id, ends_at from balance_bucket`;
    const endOf = new Map(
      ends.map(({ id, ends_at }) => [id, ends_at?.toISOString().slice(0, 10) ?? "never"]),
    );
    assert.deepEqual(
      row.allocations.map((allocation) => [allocation.split(":")[0], endOf.get(allocation)]),
      [
        ["quota", "2026-02-28"],
        ["gift", "2026-02-15"],
        ["gift", "2026-03-01"],
        ["gift", "never"],
        ["cash", "never"],
      ],
    );
    assert.deepEqual(row.held, ["1000", "1", "1", "1", "1"]);
    // Half as much was used: the quota covers it all, and every penny goes back.
    const resolution = await hold.settle(costing("4", 1000));
    assert.deepEqual([resolution.quota, resolution.taken], [1000n, "0.00"]);
    await ledger.mustBeSound();
  },
);

Deno.test("a capture takes quota first, then credits in order, then cash", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10", clock: START });
  await ledger.setPlan("pro");
  await ledger.gift("1", "2026-02-15T00:00:00Z");
  await ledger.gift("2");
  const hold = await ledger.hold(
    asking({ account: ledger.account, amount: "8", units: 2000, kind: "text" }),
  );
  // 1,250 tokens for 5.00: 250 of them at money's cost, 1.00.
  await hold.settle(costing("5", 1250));
  assert.deepEqual(await money(ledger), {
    available: "12.00",
    frozen: "0.00",
    cash: "10.00",
    gift: "2.00",
  });
  const receipt = await findReceipt(ledger.sql, ledger.account, hold.id, "USD");
  assert.deepEqual(receipt!.from, { quota: 1000, gift: "1.00", cash: "0.00" });
  assert.deepEqual([receipt!.held, receipt!.settled, receipt!.released], ["4.00", "1.00", "3.00"]);
  await ledger.mustBeSound();
});

Deno.test("a release returns to the buckets it came from", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10", clock: START });
  await ledger.setPlan("pro");
  await ledger.gift("1", "2026-02-15T00:00:00Z");
  const before = await ledger.balance();
  const hold = await ledger.hold(
    asking({ account: ledger.account, amount: "8", units: 2000, kind: "text" }),
  );
  assert.deepEqual((await ledger.balance()).quotas, { text: 0, image: 10, video: 60 });
  await hold.release();
  assert.deepEqual(await ledger.balance(), before);
  assert.equal((await ledger.sql`select from movement where request_id = ${hold.id}`).length, 0);
  await ledger.mustBeSound();
});

Deno.test("what is released into an expired credit becomes breakage", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10", clock: START });
  await ledger.gift("5", "2026-02-15T00:00:00Z");
  const hold = await ledger.hold(
    asking({ account: ledger.account, amount: "4", ttlSeconds: 1e7 }),
  );
  await ledger.setClock("2026-02-16T00:00:00Z");
  // Of the ended gift only the reserved part still counts, also before the sweeper has been.
  assert.deepEqual(await money(ledger), {
    available: "10.00",
    frozen: "4.00",
    cash: "10.00",
    gift: "4.00",
  });
  await ledger.sweep();
  assert.equal(await systemBalance(ledger, "breakage"), "1");
  await hold.settle(costing("1.5"));
  assert.equal(await systemBalance(ledger, "breakage"), "3.5");
  assert.equal(await systemBalance(ledger, "revenue"), "1.5");
  assert.deepEqual(await money(ledger), {
    available: "10.00",
    frozen: "0.00",
    cash: "10.00",
    gift: "0.00",
  });
  await ledger.mustBeSound();
});

Deno.test("what is released into an expired monthly quota becomes breakage", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10", clock: START });
  await ledger.setPlan("pro");
  const hold = await ledger.hold(
    asking({ account: ledger.account, amount: "1", units: 100, kind: "text", ttlSeconds: 1e7 }),
  );
  await ledger.setClock("2026-03-01T00:00:00Z");
  await ledger.sweep();
  assert.equal((await ledger.balance()).quotas.text, 1000);
  await hold.settle(costing("0.4", 40));
  assert.equal((await ledger.balance()).quotas.text, 1000);
  const rows = await ledger.sql<{ kind: string; amount: string }[]>`
    select kind, trim_scale(amount)::text as amount from movement where request_id = ${hold.id} order by kind`;
  assert.deepEqual([...rows], [{ kind: "breakage", amount: "60" }, {
    kind: "capture",
    amount: "40",
  }]);
  await ledger.mustBeSound();
});

Deno.test(
  "an expired credit pays for nothing, also before the sweeper has run",
  STRICT,
  async () => {
    await using ledger = await openLedger({ clock: START });
    await ledger.gift("5", "2026-02-15T00:00:00Z");
    await ledger.setClock("2026-02-15T00:00:00Z");
    await assert.rejects(ledger.hold(asking({ account: ledger.account, amount: "1" })), isShort);
    await ledger.sweep();
    await assert.rejects(ledger.hold(asking({ account: ledger.account, amount: "1" })), isShort);
    assert.equal(await systemBalance(ledger, "breakage"), "5");
    await ledger.mustBeSound();
  },
);

Deno.test("a request that its quota covers needs no money", STRICT, async () => {
  await using ledger = await openLedger({ clock: START });
  await ledger.setPlan("pro");
  const hold = await ledger.hold(
    asking({ account: ledger.account, amount: "9", units: 10, kind: "image" }),
  );
  const resolution = await hold.settle(costing("9", 10));
  assert.deepEqual([resolution.quota, resolution.held, resolution.taken], [10n, "0.00", "0.00"]);
  assert.equal((await ledger.balance()).quotas.image, 0);
  await ledger.mustBeSound();
});

Deno.test("quotas do not pay for another kind", STRICT, async () => {
  await using ledger = await openLedger({ clock: START });
  await ledger.setPlan("team"); // text only
  await assert.rejects(
    ledger.hold(asking({ account: ledger.account, amount: "1", units: 1, kind: "image" })),
    isShort,
  );
  await assert.rejects(
    ledger.hold(asking({ account: ledger.account, amount: "1", units: 1 })),
    isShort,
  );
});

Deno.test("money pays for the share that quota does not cover, rounded once", STRICT, async () => {
  await using ledger = await openLedger({ cash: "1", scale: 2, clock: START });
  await ledger.setPlan("pro");
  // 1,003 tokens for 1.00: 3/1003 of it is 0.00299…; held as 0.01, captured as 0.00.
  const hold = await ledger.hold(
    asking({ account: ledger.account, amount: "1", units: 1003, kind: "text" }),
  );
  assert.equal((await money(ledger)).frozen, "0.01");
  const resolution = await hold.settle(costing("1", 1003));
  assert.deepEqual([resolution.quota, resolution.taken], [1000n, "0.00"]);
  await ledger.mustBeSound();
});

Deno.test(
  "more used than held: quota and money are taken completely, the rest is a shortfall",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", clock: START });
    await ledger.setPlan("pro");
    const hold = await ledger.hold(
      asking({ account: ledger.account, amount: "2", units: 2000, kind: "text" }),
    );
    // 4,000 tokens for 4.00: 1,000 by quota, 3.00 owed, 1.00 of it held.
    const resolution = await hold.settle(costing("4", 4000));
    assert.deepEqual([resolution.quota, resolution.taken, resolution.shortfall], [
      1000n,
      "1.00",
      "2.00",
    ]);
    await ledger.mustBeSound();
  },
);

Deno.test(
  "an explicit price of zero is a price: it needs no balance and uses no quota",
  STRICT,
  async () => {
    await using ledger = await openLedger({ clock: START });
    await ledger.setPlan("pro");
    const hold = await ledger.hold(
      asking({ account: ledger.account, amount: "0", units: 500, kind: "text" }),
    );
    const resolution = await hold.settle(costing("0", 500, { input_tokens: 500 }));
    assert.deepEqual([resolution.state, resolution.quota, resolution.taken], [
      "settled",
      0n,
      "0.00",
    ]);
    assert.equal((await ledger.balance()).quotas.text, 1000);
  },
);
