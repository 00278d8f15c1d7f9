/**
 * Random histories of an account whose keys have budgets, on three nodes with reserves, played to the real ledger and to
 * the model here. A third key without a budget draws from the reserves meanwhile. Requests are settled, released,
 * given up to the sweeper and settled late; budgets change; time passes the edges of periods. Whatever the order: both
 * agree on which requests the budgets cover, and on what each key has spent and holds.
 *
 * `PROPERTY_SEED` and `PROPERTY_PATH`, as printed with a failure, play one again. `PROPERTY_RUNS` plays more.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { createKey, findKey, updateKey } from "../../src/domain/accounts/api_keys.ts";
import { BUDGET_PERIODS, type BudgetPeriod } from "../../src/domain/accounts/key_restrictions.ts";
import { addCredit } from "../../src/domain/ledger/credit.ts";
import type { OpenHold } from "../../src/domain/ledger/hold.ts";
import { KeyBudgetExceeded } from "../../src/domain/ledger/insufficient.ts";
import { type Ledger, openLedger } from "../../src/domain/ledger/ledger.ts";
import { sweepReserves } from "../../src/domain/ledger/retry_reserved.ts";
import { sweepLedger } from "../../src/domain/ledger/sweep.ts";
import { verifyLedger } from "../../src/domain/ledger/verify.ts";
import { decimal } from "../../src/lib/money.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { noLog } from "../helpers/logs.ts";
import { asking, costing, installClock } from "../helpers/open_ledger.ts";
import { propertyRuns } from "../helpers/property_runs.ts";

const START = Date.parse("2026-01-30T23:00:00Z");
const NODES = 3;
const TTL_SECONDS = 60;
const DAY_MS = 86_400_000;

/** Amounts are in millionths. */
interface Budget {
  amount: number;
  period: BudgetPeriod;
}

interface Request {
  key: number;
  hold: OpenHold;
  acceptedAt: number;
  max: number;
  taken: number;
  /** By which the sweeper bills it. */
  checkpoint: number;
  /** The ledger holds its maximum. */
  isHeld: boolean;
  /** Its client has settled or released it. */
  isOver: boolean;
}

class World implements AsyncDisposable {
  readonly nodes: Ledger[];
  readonly requests: Request[] = [];
  readonly budgets: (Budget | null)[];
  #ms = 0;

  constructor(
    private readonly database: Database,
    private readonly account: string,
    private readonly keys: readonly string[],
    budgets: readonly Budget[],
  ) {
    this.budgets = [...budgets, null];
    this.nodes = Array.from({ length: NODES }, (_, at) => this.#openNode(at));
  }

  #openNode(at: number): Ledger {
    return openLedger({
      database: this.database,
      money: () => ({ currency: "EUR", currencyScale: 6 }),
      onExceeded() {},
      onOrphanedHold() {},
      reserves: {
        nodeId: `node_${at}`,
        log: noLog,
        onRecall() {},
        timing: { tickMs: 2 ** 30 },
        now: () => this.#ms,
      },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map(({ reserves }) => reserves![Symbol.asyncDispose]()));
    await Promise.all(this.nodes.map(({ pending }) => pending[Symbol.asyncDispose]()));
  }

  get now(): number {
    return START + this.#ms;
  }

  /** What the model says: spent and held in the current period of a key's budget. */
  spending(key: number): { spent: number; held: number } {
    const since = sinceOf(this.budgets[key]?.period ?? "total", this.now);
    const sums = { spent: 0, held: 0 };
    for (const request of this.requests) {
      if (request.key !== key || request.acceptedAt < since) continue;
      if (request.isHeld) sums.held += request.max;
      else sums.spent += request.taken;
    }
    return sums;
  }

  left(key: number): number {
    const { spent, held } = this.spending(key);
    return this.budgets[key] === null ? Infinity : this.budgets[key]!.amount - spent - held;
  }

  /** Begins requests at once, on one node each. */
  async begin(key: number, nodes: readonly number[], max: number): Promise<void> {
    const left = this.left(key);
    const covered = max === 0 ? nodes.length : Math.max(0, Math.floor(left / max));
    const began = await Promise.all(nodes.map((node) => this.#begin(key, node, max)));
    const accepted = began.filter((request) => request !== null);
    assert.equal(accepted.length, Math.min(nodes.length, covered), `${left} covers ${max} each`);
    this.requests.push(...accepted);
  }

  async #begin(key: number, node: number, max: number): Promise<Request | null> {
    const { account, budgets } = this;
    const asked = asking({ account, amount: micros(max), units: 10, kind: "text" });
    const isBudgeted = budgets[key] !== null;
    try {
      const hold = await this.nodes[node]!.hold({
        ...asked,
        origin: { key: this.keys[key]!, user: null, metadata: null },
        ttlSeconds: TTL_SECONDS,
        beyondHold: true,
        mayDraw: !isBudgeted,
      });
      const fields = { key, hold: hold.keep(), acceptedAt: this.now, max };
      return { ...fields, taken: 0, checkpoint: 0, isHeld: isBudgeted, isOver: false };
    } catch (error) {
      if (error instanceof KeyBudgetExceeded) return null;
      throw error;
    }
  }

  pick(which: number): Request | undefined {
    const open = this.requests.filter(({ isOver }) => !isOver);
    return open[which % Math.max(1, open.length)];
  }

  async settle(request: Request, taken: number): Promise<void> {
    await request.hold.settle(costing(micros(taken), 10));
    Object.assign(request, { taken, isHeld: false, isOver: true });
  }

  async release(request: Request): Promise<void> {
    const { state } = await request.hold.release();
    request.isOver = true;
    request.isHeld = false;
    // What a sweeper has billed stays.
    if (state === "released") request.taken = 0;
  }

  async checkpoint(request: Request, amount: number): Promise<void> {
    if (!request.isHeld) return;
    await request.hold.checkpoint(costing(micros(amount), 10));
    request.checkpoint = amount;
  }

  async change(key: number, budget: Budget): Promise<void> {
    const { sql } = this.database;
    this.budgets[key] = budget;
    const { amount, period } = budget;
    const change = { sql, notify: () => Promise.resolve(), afterCommit() {} };
    await updateKey(change, this.keys[key]!, {
      budget: { amount: (amount / 1e6).toFixed(6), period },
    });
  }

  async pass(ms: number): Promise<void> {
    this.#ms += ms;
    await this.database.sql`update test_clock set now = ${new Date(this.now)}`;
  }

  async sweep(): Promise<void> {
    const { sql } = this.database;
    await sweepReserves(sql);
    await sweepLedger(sql, () => {});
    for (const request of this.requests) {
      if (!request.isHeld || this.now < request.acceptedAt + TTL_SECONDS * 1000) continue;
      request.isHeld = false;
      request.taken = request.checkpoint;
    }
  }

  async assertAgreed(): Promise<void> {
    for (const [at, budget] of this.budgets.entries()) {
      if (budget === null) continue;
      const { spend } = await findKey(this.database.sql, this.keys[at]!);
      const { spent, held } = this.spending(at);
      assert.deepEqual([inMicros(spend.amount), inMicros(spend.held)], [spent, held]);
    }
  }

  async assertSound(): Promise<void> {
    const { ok, checks } = await verifyLedger(this.database.sql);
    assert.ok(ok, JSON.stringify(checks.filter(({ ok }) => !ok)));
  }
}

const micros = (amount: number) => ({ num: BigInt(amount), den: 1_000_000n });
const inMicros = (amount: string) => Number(decimal(amount) / 1_000_000n);

/** The beginning of a period, by UTC. */
function sinceOf(period: BudgetPeriod, now: number): number {
  const day = new Date(now - now % DAY_MS);
  switch (period) {
    case "total":
      return -Infinity;
    case "day":
      return day.getTime();
    case "week":
      return day.getTime() - (day.getUTCDay() + 6) % 7 * DAY_MS;
    case "month":
      return Date.UTC(day.getUTCFullYear(), day.getUTCMonth());
  }
}

const node = fc.nat(NODES - 1);
const which = fc.nat(20);
const amount = fc.integer({ min: 0, max: 2_000_000 });
const budget: fc.Arbitrary<Budget> = fc.record({
  amount: fc.integer({ min: 1, max: 6_000_000 }),
  period: fc.constantFrom(...BUDGET_PERIODS),
});

type Command = (world: World) => Promise<void>;

const commands = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.nat(1), fc.array(node, { minLength: 1, maxLength: 6 }), amount).map(
      ([key, nodes, max]): Command => (w) => w.begin(key, nodes, max),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.array(node, { minLength: 1, maxLength: 6 }), amount).map(
      ([nodes, max]): Command => (w) => w.begin(2, nodes, max),
    ),
  },
  {
    weight: 6,
    // Now and then more than was held: as an upstream counts.
    arbitrary: fc.tuple(which, fc.integer({ min: 0, max: 110 })).map(
      ([which, percent]): Command => async (w) => {
        const request = w.pick(which);
        if (request === undefined) return;
        await w.settle(request, Math.floor(request.max * percent / 100));
      },
    ),
  },
  {
    weight: 1,
    arbitrary: which.map((which): Command => async (w) => {
      const request = w.pick(which);
      if (request !== undefined) await w.release(request);
    }),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(which, fc.integer({ min: 0, max: 100 })).map(
      ([which, percent]): Command => async (w) => {
        const request = w.pick(which);
        if (request === undefined) return;
        await w.checkpoint(request, Math.floor(request.max * percent / 100));
      },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(1), budget).map(
      ([key, budget]): Command => (w) => w.change(key, budget),
    ),
  },
  {
    weight: 3,
    arbitrary: node.map((node): Command => (w) => w.nodes[node]!.reserves!.renew()),
  },
  {
    weight: 2,
    // An hour brings the first midnight, exactly.
    arbitrary: fc.constantFrom(500, 70_000, 3_600_000, DAY_MS, 7 * DAY_MS, 31 * DAY_MS).map(
      (ms): Command => (w) => w.pass(ms),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Command>((w) => w.sweep()) },
);

Deno.test("random histories of keys with budgets agree with the model, while another key draws from reserves", async () => {
  await using fresh = await freshDatabase();
  await using database = await fresh.open();
  const { sql } = database;
  await installClock(sql, new Date(START).toISOString());
  const runs = propertyRuns(40);
  let unheld = 0;
  const property = fc.asyncProperty(
    fc.tuple(budget, budget),
    fc.array(commands, { minLength: 20, maxLength: 60, size: "max" }),
    async (budgets, history) => {
      await sql`update test_clock set now = ${new Date(START)}`;
      const { id: account } = await createAccount(sql, { name: "tester" });
      await addCredit(sql, { account, kind: "cash", amount: "10000", reference: "start" });
      const keys: string[] = [];
      for (let at = 0; at < 3; at++) keys.push((await createKey(sql, account, `key ${at}`)).id);
      await using world = new World(database, account, keys, budgets);
      for (const [at, budget] of budgets.entries()) await world.change(at, budget);
      for (const [at, command] of history.entries()) {
        await command(world);
        await world.assertAgreed();
        if (at % 20 === 19) await world.assertSound();
      }
      for (const request of world.requests.filter(({ isOver }) => !isOver)) {
        await world.settle(request, request.max);
      }
      await world.assertAgreed();
      await world.assertSound();
      const { spend } = await findKey(sql, keys[2]!);
      assert.equal(inMicros(spend.amount), world.spending(2).spent, "of the key that drew");
      const rows = await sql`select from reserve where account_id = ${account}`;
      unheld += rows.length;
    },
  );
  await fc.assert(property, {
    ...runs,
    endOnFailure: true,
  });
  assert.ok(unheld > 0, "there were reserves to draw from");
});
