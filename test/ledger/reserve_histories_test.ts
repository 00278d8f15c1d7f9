/**
 * Random histories of one account on three nodes with reserves: requests draw, settle, fail and last; nodes renew, die,
 * or are paused beyond their leases and go on; sweeps come at any time. Whatever the order: each request that was
 * settled is charged once and exactly, one that died costs its last checkpoint or nothing, and reserves come back.
 *
 * `PROPERTY_SEED` and `PROPERTY_PATH`, as printed with a failure, play one again. `PROPERTY_RUNS` plays more.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { readBalance } from "../../src/domain/ledger/balance.ts";
import { addCredit } from "../../src/domain/ledger/credit.ts";
import type { OpenHold } from "../../src/domain/ledger/hold.ts";
import { type Ledger, openLedger } from "../../src/domain/ledger/ledger.ts";
import { sweepReserves } from "../../src/domain/ledger/retry_reserved.ts";
import { sweepLedger } from "../../src/domain/ledger/sweep.ts";
import { verifyLedger } from "../../src/domain/ledger/verify.ts";
import { formatDecimal } from "../../src/lib/money.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { noLog } from "../helpers/logs.ts";
import { asking, costing, installClock } from "../helpers/open_ledger.ts";

const START = Date.parse("2026-01-31T12:00:00Z");
const NODES = 3;
const CASH = 10_000n * 10n ** 12n;

interface Request {
  hold: OpenHold;
  node: number;
  /** Its node has died: nothing more comes from it. */
  isLost: boolean;
  isOver: boolean;
  /** In millionths: what it costs so far. */
  micros: number;
}

class World {
  readonly requests: Request[] = [];
  readonly nodes: Ledger[] = [];
  /** The dead ones too. */
  readonly #all: Ledger[] = [];
  #ms = 0;

  constructor(private readonly database: Database, readonly account: string) {
    for (let at = 0; at < NODES; at++) this.nodes.push(this.#openNode());
  }

  #openNode(): Ledger {
    const ledger = openLedger({
      database: this.database,
      money: () => ({ currency: "EUR", currencyScale: 6 }),
      onExceeded() {},
      onOrphanedHold() {},
      reserves: {
        nodeId: "node",
        log: noLog,
        onRecall() {},
        timing: { tickMs: 2 ** 30 },
        now: () => this.#ms,
      },
    });
    this.#all.push(ledger);
    return ledger;
  }

  /** Waits for what the nodes do in the background. */
  async settleDown(): Promise<void> {
    await Promise.all(this.#all.map(({ reserves }) => reserves!.renew()));
  }

  async begin(node: number, micros: number): Promise<void> {
    const asked = asking({
      account: this.account,
      amount: { num: BigInt(micros), den: 1_000_000n },
      units: 10,
      kind: "text",
      ttlSeconds: 60,
    });
    const hold = await this.nodes[node]!.hold({ ...asked, beyondHold: true, mayDraw: true });
    this.requests.push({ hold: hold.keep(), node, isLost: false, isOver: false, micros: 0 });
  }

  /** One of the requests that go on. */
  pick(which: number): Request | undefined {
    const open = this.requests.filter(({ isLost, isOver }) => !isLost && !isOver);
    return open[which % Math.max(1, open.length)];
  }

  /** What the node has reserved stays; nothing returns it but the end of its lease. */
  kill(node: number): Promise<void> {
    for (const request of this.requests) if (request.node === node) request.isLost = true;
    this.nodes[node] = this.#openNode();
    return Promise.resolve();
  }

  async checkpoint(request: Request, micros: number): Promise<void> {
    await request.hold.checkpoint(cost(micros));
    // Without a hold there is nothing to keep it; a hold that a sweeper has resolved keeps the last one.
    const rows = await this.database.sql`select from hold where id = ${request.hold.id}`;
    if (rows.length > 0) request.micros = micros;
  }

  async pass(ms: number): Promise<void> {
    this.#ms += ms;
    await this.database.sql`update test_clock set now = ${new Date(START + this.#ms)}`;
  }

  async sweep(): Promise<void> {
    await sweepReserves(this.database.sql);
    await sweepLedger(this.database.sql, () => {});
  }

  /** What all requests together must have cost. */
  get spent(): bigint {
    return this.requests.reduce((sum, { micros }) => sum + BigInt(micros) * 1_000_000n, 0n);
  }

  async assertSound(): Promise<void> {
    const { ok, checks } = await verifyLedger(this.database.sql);
    assert.ok(ok, JSON.stringify(checks.filter(({ ok }) => !ok)));
  }
}

const cost = (micros: number) => costing({ num: BigInt(micros), den: 1_000_000n }, 10);
const node = fc.nat(NODES - 1);
const which = fc.nat(20);
const micros = fc.integer({ min: 0, max: 2_000_000 });

type Command = (world: World) => Promise<void>;

const commands = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(node, micros).map(([node, micros]): Command => (w) =>
      w.begin(node, micros)
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(which, micros).map(([which, micros]): Command => async (w) => {
      const request = w.pick(which);
      if (request === undefined) return;
      request.isOver = true;
      request.micros = micros;
      await request.hold.settle(cost(micros));
    }),
  },
  {
    weight: 1,
    arbitrary: which.map((which): Command => async (w) => {
      const request = w.pick(which);
      if (request === undefined) return;
      request.isOver = true;
      // What a sweeper has billed by its checkpoint stays.
      if ((await request.hold.release()).isFirst) request.micros = 0;
    }),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(which, micros).map(([which, micros]): Command => async (w) => {
      const request = w.pick(which);
      if (request === undefined) return;
      await w.checkpoint(request, micros);
    }),
  },
  { weight: 4, arbitrary: node.map((node): Command => (w) => w.nodes[node]!.reserves!.renew()) },
  { weight: 1, arbitrary: node.map((node): Command => (w) => w.kill(node)) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(500, 2_500, 7_000, 70_000).map((ms): Command => (w) => w.pass(ms)),
  },
  { weight: 1, arbitrary: fc.constant<Command>((w) => w.sweep()) },
);

Deno.test("random histories of nodes with reserves charge each request once and return the rest", async () => {
  await using fresh = await freshDatabase();
  await using database = await fresh.open();
  const { sql } = database;
  await installClock(sql, new Date(START).toISOString());
  const seed = Number(Deno.env.get("PROPERTY_SEED") ?? Math.floor(Math.random() * 2 ** 31));
  const path = Deno.env.get("PROPERTY_PATH");
  const numRuns = Number(Deno.env.get("PROPERTY_RUNS") ?? 40);
  console.log(`PROPERTY_SEED=${seed}, ${numRuns} histories`);
  let drawn = 0;
  const property = fc.asyncProperty(
    fc.array(commands, { minLength: 20, maxLength: 60, size: "max" }),
    async (history) => {
      await sql`update test_clock set now = ${new Date(START)}`;
      const { id: account } = await createAccount(sql, { name: "tester" });
      await addCredit(sql, { account, kind: "cash", amount: "10000", reference: "start" });
      const world = new World(database, account);
      for (const [at, command] of history.entries()) {
        await command(world);
        if (at % 10 === 9) await world.assertSound();
      }
      await world.settleDown();
      await world.pass(70_000);
      await world.sweep();
      await world.assertSound();
      const { available_balance, frozen_balance } = await readBalance(sql, account, "USD");
      assert.deepEqual([available_balance, frozen_balance], [
        formatDecimal(CASH - world.spent),
        "0.00",
      ]);
      const [left] =
        await sql`select count(*)::int as n from reserve where account_id = ${account}`;
      assert.equal(left!.n, 0);
      const [receipts] = await sql`
        select count(*) filter (where checkpoint is null and ended_by is null)::int as n from receipt
         where account_id = ${account}`;
      drawn += receipts!.n;
    },
  );
  await fc.assert(property, {
    seed,
    numRuns,
    endOnFailure: true,
    ...(path === undefined ? {} : { path }),
  });
  assert.ok(drawn > 0);
});
