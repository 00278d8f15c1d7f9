import assert from "node:assert/strict";
import fc from "fast-check";
import type { Receipt } from "../../src/domain/ledger/receipt.ts";
import { listUsage } from "../../src/domain/ledger/statement.ts";
import { rollUpUsage, usageDays } from "../../src/domain/ledger/usage_days.ts";
import type { HoldRequest } from "../../src/domain/ledger/hold.ts";
import { damageReceipts } from "../helpers/ledger_looks.ts";
import {
  type Asked,
  asking,
  costing,
  openLedger,
  type TestLedger,
} from "../helpers/open_ledger.ts";
import { holdIn, settleIn } from "../helpers/ledger_in.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const START = "2026-01-31T12:00:00Z";
const LATER = "2026-01-31T12:05:00Z";

const beyond = (asked: Asked): HoldRequest => ({ ...asking(asked), beyondHold: true });

async function receiptsOf({ sql }: TestLedger, account: string) {
  const query = { account, limit: 100, order: "asc" } as const;
  return (await listUsage(sql, query, "EUR")).data;
}

Deno.test(
  "a settlement after the sweeper's pays the difference, into the same receipt, however often",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", clock: START });
    const { account } = ledger;
    const hold = (await ledger.hold({
      ...beyond({ account, amount: "1", ttlSeconds: 60 }),
      origin: { key: "key_1", user: "ada", metadata: { team: "red" } },
    })).keep();
    await hold.checkpoint(costing("0.18", 0, { output_tokens: 18 }));
    await ledger.setClock(LATER);
    await ledger.sweep();
    const full = costing("1.25", 0, { output_tokens: 100 });
    const late = await hold.settle(full);
    assert.deepEqual([late.isFirst, late.taken, late.shortfall], [true, "1.25", "0.00"]);
    const again = await Promise.all([hold.settle(full), hold.settle(costing("7"))]);
    assert.deepEqual(again, [{ ...late, isFirst: false }, { ...late, isFirst: false }]);
    const receipts = await receiptsOf(ledger, account);
    assert.deepEqual(
      receipts.map((r) => [r.id, r.status, r.held, r.settled, r.released, r.usage?.output_tokens]),
      [[hold.id, "settled", "1.00", "1.25", "0.00", 100]],
    );
    const [{ key, user, metadata }] = receipts as [Receipt];
    assert.deepEqual([key, user, metadata], ["key_1", "ada", { team: "red" }]);
    assert.equal((await ledger.balance()).available_balance, "8.75");
    await ledger.mustBeSound();
  },
);

Deno.test(
  "a settlement below the checkpoint returns the difference to its bucket",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", clock: START });
    const { account } = ledger;
    await ledger.gift("0.30", "2026-03-01T00:00:00Z");
    await ledger.setPlan("pro"); // 1,000 tokens
    const asked = { account, amount: "2", units: 2000, kind: "text", ttlSeconds: 60 } as const;
    const hold = (await ledger.hold(beyond(asked))).keep();
    await hold.checkpoint(costing("1.9", 1900));
    await ledger.setClock(LATER);
    await ledger.sweep();
    assert.equal((await ledger.balance()).available_balance, "9.40");
    await hold.settle(costing("1.2", 1200));
    const [receipt] = await receiptsOf(ledger, account);
    assert.deepEqual(receipt!.from, { quota: 1000, gift: "0.20", cash: "0.00" });
    const { available_balance, gift_balance, quotas } = await ledger.balance();
    assert.deepEqual([available_balance, gift_balance, quotas.text], ["10.10", "0.10", 0]);
    await ledger.mustBeSound();
  },
);

Deno.test(
  "quota that a late settlement returns to a plan that was replaced expires",
  STRICT,
  async () => {
    await using ledger = await openLedger({ clock: START });
    const { account } = ledger;
    await ledger.setPlan("team"); // 5,000 tokens
    const asked = { account, amount: "1", units: 5_000, kind: "text", ttlSeconds: 60 } as const;
    const hold = (await ledger.hold(asking(asked))).keep();
    await hold.checkpoint(costing("1", 5_000));
    await ledger.setClock(LATER);
    await ledger.sweep();
    await ledger.setPlan("pro"); // 1,000
    const { quota } = await hold.settle(costing("0.2", 1_000));
    assert.equal(quota, 1_000n);
    assert.equal((await ledger.balance()).quotas.text, 1_000);
    await ledger.mustBeSound();
  },
);

Deno.test("daily usage has a late settlement once, with its final amount", STRICT, async () => {
  await using ledger = await openLedger({ cash: "10", clock: START });
  const { account } = ledger;
  const holds = [];
  for (const id of ["req_1", "req_2"]) {
    holds.push((await ledger.hold(beyond({ id, account, amount: "1", ttlSeconds: 60 }))).keep());
  }
  await holds[0]!.checkpoint(costing("0.18", 0, { output_tokens: 18 }));
  await ledger.setClock(LATER);
  await ledger.sweep();
  await ledger.setClock("2026-01-31T12:06:00Z");
  await rollUpUsage(ledger.sql);
  const sums = async () => {
    const days = await usageDays(ledger.sql, { account, from: "2026-01-01" });
    return days.map((d) => [d.day, d.calls, d.failed, d.charged, d.output_tokens]);
  };
  assert.deepEqual(await sums(), [["2026-01-31", 1, 1, "0.18", 18]]);
  await ledger.setClock("2026-02-01T00:01:00Z");
  for (const hold of holds) await hold.settle(costing("1", 0, { output_tokens: 100 }));
  const expected = [["2026-02-01", 2, 0, "2.00", 200]];
  assert.deepEqual(await sums(), expected);
  await ledger.setClock("2026-02-01T00:02:00Z");
  await rollUpUsage(ledger.sql);
  assert.deepEqual(await sums(), expected);
});

Deno.test(
  "the settlement of a task whose hold a sweeper has resolved counts in its transaction",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", clock: START });
    const { account } = ledger;
    const hold = await ledger.sql.begin((sql) =>
      holdIn(sql, asking({ account, amount: "1", ttlSeconds: 60 }))
    );
    await ledger.setClock(LATER);
    await ledger.sweep();
    const undone = ledger.sql.begin(async (sql) => {
      await settleIn(sql, hold.id, costing("0.75"));
      throw new Error("undone");
    });
    await assert.rejects(undone, /undone/);
    assert.equal((await ledger.balance()).available_balance, "10.00");
    const settle = () => ledger.sql.begin((sql) => settleIn(sql, hold.id, costing("0.75")));
    assert.deepEqual([(await settle()).isFirst, (await settle()).isFirst], [true, false]);
    assert.equal((await ledger.balance()).available_balance, "9.25");
    await ledger.mustBeSound();
  },
);

Deno.test("verify finds a late settlement that took more than it may", STRICT, async (t) => {
  for (
    const damage of [
      "taken = taken || 5.0, held = held || 0.0, allocations = allocations || allocations",
      "taken[1] = 2",
    ]
  ) {
    await t.step(damage, async () => {
      await using ledger = await openLedger({ cash: "10", clock: START });
      const { account } = ledger;
      const hold = (await ledger.hold(asking({ account, amount: "1", ttlSeconds: 60 }))).keep();
      await ledger.setClock(LATER);
      await ledger.sweep();
      await hold.settle(costing("1"));
      await ledger.mustBeSound();
      await damageReceipts(ledger, `update receipt_correction set ${damage}`);
      await assert.rejects(ledger.mustBeSound(), /captured is at most held/);
    });
  }
});

type Event = { settle: number } | "sweep";

Deno.test(
  "settlements repeated and swept in any order leave the same ledger",
  STRICT,
  async () => {
    await using ledger = await openLedger({ clock: START, scale: 2 });
    let minutes = 0;
    const pass = () => {
      minutes += 5;
      return ledger.setClock(new Date(Date.parse(START) + minutes * 60_000).toISOString());
    };
    // Below the hold of 3.00 by more than the rounding that is carried on: a carry that does not fit into the
    // hold is left for a later settlement, so that its order would show.
    const MICROS_MAX = 2_980_000;
    const charges = fc.array(fc.integer({ min: 10_000, max: MICROS_MAX }), {
      minLength: 2,
      maxLength: 5,
    });
    const histories = charges.chain((charges) =>
      fc.record({
        charges: fc.constant(charges),
        // A checkpoint may be below or above what it comes to in the end; null: none was made.
        checkpoints: fc.array(fc.option(fc.integer({ min: 1, max: MICROS_MAX })), {
          minLength: charges.length,
          maxLength: charges.length,
        }),
        events: fc.shuffledSubarray<Event>(
          [...charges.flatMap((_, at) => [{ settle: at }, { settle: at }]), "sweep", "sweep"],
          { minLength: 2 * charges.length + 2 },
        ),
        isBeyond: fc.boolean(),
      })
    );
    const micro = (amount: number) => costing({ num: BigInt(amount), den: 1_000_000n });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(histories, async ({ charges, checkpoints, events, isBeyond }) => {
        const run = ++runs;
        const play = async (account: string, events: readonly Event[], passes: boolean) => {
          const ids = charges.map((_, at) => `${account}/${run}/${at}`);
          for (const [at, id] of ids.entries()) {
            const request = asking({ id, account, amount: "3", ttlSeconds: 60 });
            await ledger.hold({ ...request, beyondHold: isBeyond });
            const checkpoint = checkpoints[at];
            if (checkpoint != null) await ledger.checkpoint(id, micro(checkpoint), account);
          }
          if (passes) await pass();
          for (const event of events) {
            if (event === "sweep") await ledger.sweep();
            else await ledger.settle(ids[event.settle]!, micro(charges[event.settle]!), account);
          }
          const { available_balance, frozen_balance } = await ledger.balance(account);
          const [row] = await ledger.sql<[{ carry: string }]>`
            select trim_scale(carry)::text as carry from balance_bucket where id = ${`cash:${account}`}`;
          const receipts = await receiptsOf(ledger, account);
          const states = receipts.map(({ status }) => status);
          return { available_balance, frozen_balance, carry: row.carry, states };
        };
        const [plain, shuffled] = [await ledger.newAccount("100"), await ledger.newAccount("100")];
        const once = charges.map((_, at): Event => ({ settle: at }));
        const expected = await play(plain, once, false);
        assert.deepEqual(await play(shuffled, events, true), expected);
      }),
      { numRuns: 60 },
    );
    await ledger.mustBeSound();
  },
);
