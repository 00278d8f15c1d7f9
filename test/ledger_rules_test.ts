import assert from "node:assert/strict";
import { createAccount } from "../src/accounts/accounts.ts";
import { Refusal } from "../src/base/refusal.ts";
import { adjust, credit } from "../src/ledger/credit.ts";
import { covers } from "../src/ledger/balance.ts";
import { runItems } from "../src/ledger/item.ts";
import { holdItem } from "../src/ledger/hold.ts";
import { findReceipt } from "../src/ledger/statement.ts";
import { verify } from "../src/ledger/verify.ts";
import { charge, quote } from "../src/pricing/quote.ts";
import { priceFrom, type PriceSnapshot } from "../src/pricing/snapshot.ts";
import { asking, costing, openLedger, PRICE, type TestLedger } from "./helpers/open_ledger.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const START = "2026-01-31T12:00:00Z";

/** The money of a balance, without the rest. */
async function money(ledger: TestLedger) {
  const { available_balance, frozen_balance, cash_balance, gift_balance } = await ledger.balance();
  return {
    available: available_balance,
    frozen: frozen_balance,
    cash: cash_balance,
    gift: gift_balance,
  };
}

const isShort = (error: unknown) =>
  error instanceof Refusal && error.code === "insufficient_balance";

/** What the system's own accounts have received (positive) or given (negative). */
async function systemBalance(ledger: TestLedger, name: string): Promise<string> {
  const [row] = await ledger.sql<[{ amount: string }]>`
    select trim_scale(coalesce(sum(case credit when ${name} then amount else -amount end), 0)) as amount
      from transfer where ${name} in (debit, credit)`;
  return row.amount;
}

// ── Reserving ─────────────────────────────────────────────────────────────────────────────────────

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
  "available is cash plus gifts minus frozen, and cash and gifts include their frozen part",
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
  "a hold above what is available is refused with insufficient_balance and stores nothing",
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
  "a hold that does not fit refuses only itself: a smaller one behind it is held",
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

Deno.test("a hold that was handed on or settled outlives its scope", STRICT, async () => {
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

// ── Settling ──────────────────────────────────────────────────────────────────────────────────────

Deno.test("settling takes what was used and gives back the rest", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10" });
  const hold = await ledger.hold(asking({ account: ledger.account, amount: "3" }));
  const resolution = await hold.settle(costing("1.25"));
  assert.deepEqual(resolution, {
    id: hold.id,
    state: "settled",
    isFirst: true,
    held: "3.00",
    taken: "1.25",
    quota: 0n,
    lost: "0.00",
  });
  assert.deepEqual(await money(ledger), {
    available: "8.75",
    frozen: "0.00",
    cash: "8.75",
    gift: "0.00",
  });
  assert.equal(await systemBalance(ledger, "revenue"), "1.25");
  await ledger.mustBeSound();
});

Deno.test("settling to nothing gives everything back and books nothing", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10" });
  const hold = await ledger.hold(asking({ account: ledger.account, amount: "3" }));
  await hold.settle(costing("0"));
  assert.deepEqual(await money(ledger), {
    available: "10.00",
    frozen: "0.00",
    cash: "10.00",
    gift: "0.00",
  });
  assert.equal((await ledger.sql`select from transfer where hold_id = ${hold.id}`).length, 0);
});

Deno.test(
  "a hold rounds up and a capture rounds half up, once, to the currency's scale",
  STRICT,
  async () => {
    // Scale, exact amount, held, captured.
    const cases = [
      [2, "0.001", "0.01", "0.00"],
      [2, "0.005", "0.01", "0.01"],
      [2, "0.0049999", "0.01", "0.00"],
      [2, "0.015", "0.02", "0.02"],
      [6, "0.0000005", "0.000001", "0.000001"],
      [6, "0.00000049", "0.000001", "0.00"],
      [6, "0.1234565", "0.123457", "0.123457"],
      [0, "0.5", "1.00", "1.00"],
      [12, "0.000000000001", "0.000000000001", "0.000000000001"],
      [2, { num: 1n, den: 600n }, "0.01", "0.00"], // one second at 0.10 a minute
      [2, { num: 3n, den: 600n }, "0.01", "0.01"], // three: exactly half a cent
      [6, { num: 1n, den: 3n }, "0.333334", "0.333333"],
    ] as const;
    await using ledger = await openLedger({ cash: "100" });
    for (const [scale, amount, held, taken] of cases) {
      ledger.scale = scale;
      const hold = await ledger.hold(asking({ account: ledger.account, amount }));
      const resolution = await hold.settle(costing(amount));
      const name = `${held} at ${scale} decimals`;
      assert.deepEqual(
        [resolution.held, resolution.taken, resolution.lost],
        [held, taken, "0.00"],
        name,
      );
    }
    await ledger.mustBeSound();
  },
);

Deno.test(
  "an actual price above the hold takes the whole hold; the rest is booked as loss and reported",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10" });
    const hold = await ledger.hold(asking({ account: ledger.account, amount: "3" }));
    const resolution = await hold.settle(costing("3.5"));
    assert.deepEqual([resolution.taken, resolution.lost], ["3.00", "0.50"]);
    assert.deepEqual(ledger.losses.map(({ id, lost }) => ({ id, lost })), [{
      id: hold.id,
      lost: "0.50",
    }]);
    assert.equal((await money(ledger)).cash, "7.00");
    assert.equal(await systemBalance(ledger, "revenue"), "3.5");
    assert.equal(await systemBalance(ledger, "loss"), "-0.5");
    await ledger.mustBeSound();
  },
);

Deno.test(
  "a hold resolves once: later settlements and releases answer with the first and move nothing",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10" });
    const settled = (await ledger.hold(asking({ account: ledger.account, amount: "3" }))).keep();
    const first = await settled.settle(costing("1"));
    for (const again of [await settled.settle(costing("2")), await settled.release()]) {
      assert.deepEqual(again, { ...first, isFirst: false });
    }
    const released = (await ledger.hold(asking({ account: ledger.account, amount: "3" }))).keep();
    await released.release();
    const late = await released.settle(costing("2"));
    assert.deepEqual([late.state, late.taken, late.isFirst], ["released", "0.00", false]);
    assert.equal((await money(ledger)).cash, "9.00");
    await ledger.mustBeSound();
  },
);

Deno.test("resolving what was never held is an error", STRICT, async () => {
  await using ledger = await openLedger();
  await assert.rejects(ledger.settle("req_none", costing("1")), /no such hold/);
  await assert.rejects(ledger.release("req_none"), /no such hold/);
  await assert.rejects(ledger.note("req_none", costing("1")), /no such hold/);
});

Deno.test("a settlement inside a transaction that rolls back did not happen", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10" });
  const { sql } = ledger;
  await assert.rejects(sql.begin(async (tx) => {
    await ledger.holdIn(tx, asking({ id: "req_lost", account: ledger.account, amount: "1" }));
    throw new Error("changed my mind");
  }));
  assert.equal((await money(ledger)).frozen, "0.00");
  await sql.begin((tx) =>
    ledger.holdIn(tx, asking({ id: "req_1", account: ledger.account, amount: "1" }))
  );
  await assert.rejects(sql.begin(async (tx) => {
    await ledger.settleIn(tx, "req_1", costing("1"));
    throw new Error("changed my mind");
  }));
  assert.equal((await money(ledger)).frozen, "1.00");
  const { taken } = await sql.begin((tx) => ledger.settleIn(tx, "req_1", costing("0.5")));
  assert.equal(taken, "0.50");
  assert.equal((await sql.begin((tx) => ledger.releaseIn(tx, "req_1"))).state, "settled");
  await ledger.mustBeSound();
});

// ── Quota, gifts, cash ────────────────────────────────────────────────────────────────────────────

Deno.test(
  "the order of use is the kind's quota, then gifts by soonest expiry, then cash",
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
    const [row] = await ledger.sql<[{ legs: string[]; held: string[] }]>`
    select legs, array(select trim_scale(h)::text from unnest(held) h) as held from hold`;
    const ends = await ledger.sql<
      { id: string; ends_at: Date | null }[]
    >`select id, ends_at from pot`;
    const endOf = new Map(
      ends.map(({ id, ends_at }) => [id, ends_at?.toISOString().slice(0, 10) ?? "never"]),
    );
    assert.deepEqual(row.legs.map((leg) => [leg.split(":")[0], endOf.get(leg)]), [
      ["quota", "2026-02-28"],
      ["gift", "2026-02-15"],
      ["gift", "2026-03-01"],
      ["gift", "never"],
      ["cash", "never"],
    ]);
    assert.deepEqual(row.held, ["1000", "1", "1", "1", "1"]);
    // Half as much was used: the quota covers it all, and every penny goes back.
    const resolution = await hold.settle(costing("4", 1000));
    assert.deepEqual([resolution.quota, resolution.taken], [1000n, "0.00"]);
    await ledger.mustBeSound();
  },
);

Deno.test("a capture takes quota first, then the gifts in order, then cash", STRICT, async () => {
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

Deno.test("a release goes back to where it came from", STRICT, async () => {
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
  assert.equal((await ledger.sql`select from transfer where hold_id = ${hold.id}`).length, 0);
  await ledger.mustBeSound();
});

Deno.test("what is released into a gift that has ended lapses as breakage", STRICT, async () => {
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

Deno.test("what is released into a month of quota that has ended lapses", STRICT, async () => {
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
    select kind, trim_scale(amount)::text as amount from transfer where hold_id = ${hold.id} order by kind`;
  assert.deepEqual([...rows], [{ kind: "breakage", amount: "60" }, {
    kind: "capture",
    amount: "40",
  }]);
  await ledger.mustBeSound();
});

Deno.test(
  "a gift that has ended pays for nothing, whether or not the sweeper has been",
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

Deno.test("a part that quota leaves is paid by its share, rounded once", STRICT, async () => {
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
  "more used than held: quota and money are taken whole, the rest is a loss",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", clock: START });
    await ledger.setPlan("pro");
    const hold = await ledger.hold(
      asking({ account: ledger.account, amount: "2", units: 2000, kind: "text" }),
    );
    // 4,000 tokens for 4.00: 1,000 by quota, 3.00 owed, 1.00 of it held.
    const resolution = await hold.settle(costing("4", 4000));
    assert.deepEqual([resolution.quota, resolution.taken, resolution.lost], [
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

// ── Plans ─────────────────────────────────────────────────────────────────────────────────────────

Deno.test("an account without a bought plan is on free, which never expires", STRICT, async () => {
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
    // Half a year without anybody looking: one month's quota, not six.
    assert.equal(await textAt("2026-10-15T00:00:00Z"), 1000);
    assert.equal(
      (await ledger.sql`select from pot where source = 'quota' and unit = 'text'`).length,
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
  "a plan that ends leaves the account on free, with its quotas lapsed",
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
    assert.deepEqual(await ledger.sweep(), { holds: 0, pots: 3, plans: 1 });
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

// ── Booking ───────────────────────────────────────────────────────────────────────────────────────

Deno.test(
  "the same credit reference books once; with another amount, kind or expiry it is refused",
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
    assert.deepEqual(await credit(sql, once), { isFirst: true });
    assert.deepEqual(await credit(sql, { ...once, amount: "10" }), { isFirst: false });
    for (
      const other of [{ amount: "11" }, { kind: "cash", expiresAt: undefined }, {
        expiresAt: undefined,
      }] as const
    ) {
      await assert.rejects(credit(sql, { ...once, ...other }), {
        code: "invalid_value",
        param: "reference",
      });
    }
    assert.equal((await money(ledger)).gift, "10.00");
    await ledger.mustBeSound();
  },
);

Deno.test("credits that make no sense are refused", STRICT, async () => {
  await using ledger = await openLedger({ clock: START });
  const { sql, account } = ledger;
  for (const amount of ["0", "-1", "1e3", "", "1.0000000000001", "abc"]) {
    await assert.rejects(credit(sql, { account, kind: "cash", amount, reference: "r" }), {
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
  await assert.rejects(credit(sql, past), { param: "expires_at" });
  await assert.rejects(credit(sql, { ...past, kind: "cash" }), { param: "expires_at" });
  await assert.rejects(
    credit(sql, { account: "acc_none", kind: "cash", amount: "1", reference: "r" }),
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
  assert.deepEqual(await adjust(sql, down), { isFirst: true });
  assert.deepEqual(await adjust(sql, down), { isFirst: false });
  await assert.rejects(adjust(sql, { ...down, amount: "-3" }), { param: "reference" });
  await assert.rejects(adjust(sql, { ...down, reference: "a2", amount: "-0.01" }), {
    code: "insufficient_balance",
  });
  await adjust(sql, { ...down, reference: "a3", amount: "0.5" });
  assert.deepEqual(await money(ledger), {
    available: "0.50",
    frozen: "6.00",
    cash: "6.50",
    gift: "0.00",
  });
  assert.equal(await systemBalance(ledger, "adjustment"), "3.5");
  await ledger.mustBeSound();
});

Deno.test("transfers can be neither changed nor removed, not even by hand", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10" });
  const { sql } = ledger;
  for (
    const rewrite of [
      () => sql`update transfer set amount = 1`,
      () => sql`delete from transfer`,
      () => sql`truncate transfer`,
    ]
  ) await assert.rejects(async () => await rewrite(), /never changed or removed/);
});

Deno.test(
  "a negative charge is refused twice: by the gateway and by the database",
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
  await credit(sql, { account, kind: "cash", amount: most, reference: "much" });
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
  await credit(sql, { account, kind: "gift", amount: most, reference: "more" });
  assert.equal((await money(ledger)).available, "100000000000000000000.00");
  await assert.rejects(
    credit(sql, { account, kind: "cash", amount: most, reference: "too much" }),
    {
      code: "invalid_value",
    },
  );
  await ledger.mustBeSound();
});

// ── Time ──────────────────────────────────────────────────────────────────────────────────────────

Deno.test(
  "the sweeper gives back what nobody came back to, and marks it expired",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", clock: START });
    const { id } =
      (await ledger.hold(asking({ account: ledger.account, amount: "3", ttlSeconds: 60 }))).keep();
    await ledger.setClock("2026-01-31T12:00:59Z");
    assert.equal((await ledger.sweep()).holds, 0);
    await ledger.setClock("2026-01-31T12:01:00Z");
    assert.equal((await ledger.sweep()).holds, 1);
    assert.equal((await findReceipt(ledger.sql, ledger.account, id, "USD"))!.status, "expired");
    assert.equal((await money(ledger)).available, "10.00");
    const late = await ledger.settle(id, costing("1"));
    assert.deepEqual([late.state, late.isFirst, late.taken], ["expired", false, "0.00"]);
    await ledger.mustBeSound();
  },
);

Deno.test(
  "a hold that was noted is settled by the last note when nobody comes back",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", clock: START });
    const hold =
      (await ledger.hold(asking({ account: ledger.account, amount: "3", ttlSeconds: 60 }))).keep();
    await hold.note(costing("0.5", 0, { output_tokens: 50 }));
    await hold.note(costing("0.75", 0, { output_tokens: 75, estimated: true }));
    assert.equal((await money(ledger)).frozen, "3.00");
    await ledger.setClock("2026-01-31T12:02:00Z");
    await ledger.sweep();
    const receipt = await findReceipt(ledger.sql, ledger.account, hold.id, "USD");
    assert.deepEqual([receipt!.status, receipt!.settled], ["settled", "0.75"]);
    assert.deepEqual(receipt!.usage, { output_tokens: 75, estimated: true });
    await ledger.mustBeSound();
  },
);

Deno.test(
  "a note that could never be settled is refused, so that it cannot stop the sweeper",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", clock: START });
    const hold =
      (await ledger.hold(asking({ account: ledger.account, amount: "3", ttlSeconds: 60 }))).keep();
    await assert.rejects(hold.note(costing({ num: 10n ** 21n, den: 1n })), /overflow/);
    await ledger.setClock("2026-02-01T00:00:00Z");
    assert.equal((await ledger.sweep()).holds, 1);
    await ledger.mustBeSound();
  },
);

Deno.test("sweepers on many nodes at once resolve every hold once", STRICT, async () => {
  await using ledger = await openLedger({ cash: "100", clock: START });
  await Promise.all(
    Array.from(
      { length: 50 },
      async () =>
        (await ledger.hold(asking({ account: ledger.account, amount: "1", ttlSeconds: 60 })))
          .keep(),
    ),
  );
  await ledger.setClock("2026-02-01T00:00:00Z");
  const swept = await Promise.all(Array.from({ length: 5 }, () => ledger.sweep()));
  assert.equal(swept.reduce((sum, { holds }) => sum + holds, 0), 50);
  assert.equal((await money(ledger)).available, "100.00");
  await ledger.mustBeSound();
});

// ── Prices and quotes ─────────────────────────────────────────────────────────────────────────────

Deno.test("the price is frozen when the request is accepted", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10" });
  const asked = quote({ id: "sim-chat", type: "chat" }, PRICE, {
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
  // Whatever the declaration says by now, what was kept prices the settlement.
  const { taken } = await hold.settle(
    charge({ price: priceFrom(row.price), kind: "text" }, { output_tokens: 500 }),
  );
  assert.equal(taken, "0.01");
});

Deno.test("a quote says whether the balance covers it, and books nothing", STRICT, async () => {
  await using ledger = await openLedger({ cash: "0.02", clock: START });
  const { sql, account } = ledger;
  await ledger.setPlan("pro");
  const ask = (output_tokens: number) =>
    quote({ id: "sim-chat", type: "chat" }, PRICE, { output_tokens });
  assert.equal(await covers(sql, account, ask(2000), 6), true); // 1,000 by quota, 0.02 for the others
  assert.equal(await covers(sql, account, ask(2001), 6), false);
  assert.deepEqual((await ledger.balance()).quotas.text, 1000);
  assert.equal((await sql`select from hold`).length, 0);
});

// ── Verification ──────────────────────────────────────────────────────────────────────────────────

Deno.test("verify finds every kind of damage and names it", STRICT, async (t) => {
  const damages: [name: string, damage: string][] = [
    [
      "every balance equals its transfers",
      "update pot set remaining = remaining + 1 where source = 'cash'",
    ],
    [
      "every balance equals its transfers",
      "insert into transfer (id, unit, debit, credit, amount, account_id, kind, created_at) select 'x', 'money', 'topup', 'cash:nobody', 1, 'nobody', 'credit', now()",
    ],
    ["frozen equals open holds", "update pot set frozen = frozen + 1 where source = 'cash'"],
    ["frozen equals open holds", "delete from hold where state = 'open'"],
    ["captured is at most held", "update hold set taken = array[100] where state = 'settled'"],
    ["a hold resolves once", "update hold set taken = array[0.5] where state = 'settled'"],
    [
      "a hold resolves once",
      "insert into transfer select id || '/again', unit, debit, credit, amount, account_id, hold_id, kind, reference, reason, created_at from transfer where kind = 'capture'",
    ],
    [
      "nothing is negative",
      "alter table hold drop constraint hold_reserves_no_debt; update hold set held = array[-1] where state = 'open'",
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
      const sound = await verify(ledger.sql);
      assert.ok(sound.ok, JSON.stringify(sound));
      await ledger.sql.unsafe(damage);
      const { ok, checks } = await verify(ledger.sql);
      assert.equal(ok, false);
      assert.equal(checks.find((check) => check.name === name)!.ok, false, JSON.stringify(checks));
    });
  }
});
