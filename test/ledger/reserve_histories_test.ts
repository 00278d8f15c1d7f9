/**
 * Random histories of one account on three nodes with reserves: requests draw, settle, fail and last; nodes renew, die,
 * or are paused beyond their leases and go on; statements and their answers are lost, and some arrive after later ones;
 * reserves are recalled; sweeps come at any time. Whatever the order: each request that was settled is charged once and
 * exactly, one that died costs its last checkpoint or nothing, no node believes to have more than is frozen for it, and
 * reserves come back.
 *
 * `PROPERTY_SEED` and `PROPERTY_PATH`, as printed with a failure, play one again. `PROPERTY_RUNS` plays more.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { readBalance } from "../../src/domain/ledger/balance.ts";
import { addCredit } from "../../src/domain/ledger/credit.ts";
import type { OpenHold } from "../../src/domain/ledger/hold.ts";
import { isStorageDown } from "../../src/platform/database/storage_error.ts";
import { type Ledger, openLedger } from "../../src/domain/ledger/ledger.ts";
import type { Reserve } from "../../src/domain/ledger/reserve.ts";
import { sweepReserves } from "../../src/domain/ledger/retry_reserved.ts";
import { sweepLedger } from "../../src/domain/ledger/sweep.ts";
import { verifyLedger } from "../../src/domain/ledger/verify.ts";
import { decimal, formatDecimal } from "../../src/lib/money.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { type Break, breakable, type BreakableDatabase } from "../helpers/breakable_database.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { noLog } from "../helpers/logs.ts";
import { asking, costing, installClock } from "../helpers/open_ledger.ts";
import { propertyRuns } from "../helpers/property_runs.ts";

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

interface Node {
  ledger: Ledger;
  database: BreakableDatabase;
  recall(): void;
}

class World implements AsyncDisposable {
  readonly requests: Request[] = [];
  readonly nodes: Node[] = [];
  /** The dead ones too. */
  readonly #all: Node[] = [];
  /** That requests have drawn from. */
  readonly #reserves = new Map<Reserve, BreakableDatabase>();
  #ms = 0;

  constructor(private readonly database: Database, readonly account: string) {
    for (let at = 0; at < NODES; at++) this.nodes.push(this.#openNode());
  }

  #openNode(): Node {
    const database = breakable(this.database);
    let recall: (account: string) => void = () => {};
    const ledger = openLedger({
      database,
      money: () => ({ currency: "EUR", currencyScale: 6 }),
      onExceeded() {},
      onOrphanedHold() {},
      reserves: {
        nodeId: "node",
        log: noLog,
        onRecall: (listener) => recall = listener,
        timing: { tickMs: 2 ** 30 },
        now: () => this.#ms,
      },
    });
    const reserves = ledger.reserves!;
    const draw = reserves.draw.bind(reserves);
    reserves.draw = (...args) => {
      const drawn = draw(...args);
      if (drawn !== null) this.#reserves.set(drawn.reserve, database);
      return drawn;
    };
    const node = { ledger, database, recall: () => recall(this.account) };
    this.#all.push(node);
    return node;
  }

  /** Waits for what the nodes do in the background. */
  async settleDown(): Promise<void> {
    await Promise.all(this.#all.map(async ({ ledger, database }) => {
      await ledger.reserves!.renew();
      await database.rest();
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map(({ ledger }) => ledger.reserves![Symbol.asyncDispose]()));
    await Promise.all(this.#all.map(({ ledger }) => ledger.pending[Symbol.asyncDispose]()));
    await Promise.all(this.#all.map(({ database }) => database.rest()));
  }

  async begin(node: number, micros: number): Promise<void> {
    const asked = asking({
      account: this.account,
      amount: { num: BigInt(micros), den: 1_000_000n },
      units: 10,
      kind: "text",
      ttlSeconds: 60,
    });
    const { ledger } = this.nodes[node]!;
    const hold = await ledger.hold({ ...asked, beyondHold: true, mayDraw: true })
      // The sweeper releases a hold whose answer was lost.
      .catch(ifBroken);
    if (hold === null) return;
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
    this.nodes[node]!.database.isAway = true;
    this.nodes[node] = this.#openNode();
    return Promise.resolve();
  }

  async checkpoint(request: Request, micros: number): Promise<void> {
    await request.hold.checkpoint(cost(micros)).catch(ifBroken);
    // Without a hold there is nothing to keep it; a hold that a sweeper has resolved keeps the last one.
    const [row] = await this.database.sql<[{ num: string | null }?]>`
      select checkpoint ->> 'num' as num from hold where id = ${request.hold.id}`;
    if (row !== undefined && row.num !== null) request.micros = Number(row.num);
  }

  /** As a notification of the database does; some nodes do not get it. */
  async recall(nodes: readonly number[]): Promise<void> {
    const { sql } = this.database;
    await sql`select ledger_recall(${this.account}, ledger_now())`;
    for (const node of nodes) this.nodes[node]!.recall();
  }

  break(node: number, how: Break, statement: string): Promise<void> {
    this.nodes[node]!.database.breakNext(how, statement);
    return Promise.resolve();
  }

  /** What was sent long ago arrives, also of dead nodes. */
  async arrive(): Promise<void> {
    for (const { database } of this.#all) await database.arrive();
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

  async assertSound({ isRenewed = false } = {}): Promise<void> {
    const { ok, checks } = await verifyLedger(this.database.sql);
    assert.ok(ok, JSON.stringify(checks.filter(({ ok }) => !ok)));
    await this.#assertBacked(isRenewed);
  }

  /** What a node may draw, and what its requests have drawn, is frozen for it; unless its lease could have ended. */
  async #assertBacked(isRenewed: boolean): Promise<void> {
    const rows = await this.database.sql<{ id: string; held: string; drawn: string }[]>`
      select id, (select sum(h) from unnest(held) h)::text as held, (select sum(d) from unnest(drawn) d)::text as drawn
        from reserve where account_id = ${this.account}`;
    const known = new Map(rows.map((row) => [row.id, row]));
    for (const [reserve, database] of this.#reserves) {
      if (this.#ms >= reserve.drawableUntil) continue;
      const row = known.get(reserve.id) ?? { held: "0", drawn: "0" };
      assert.ok(decimal(row.held) >= reserve.held.money, `${reserve.id} is not backed`);
      if (!isRenewed || database.isAway) continue;
      let drawn = 0n;
      for (const { held } of reserve.draws) for (const part of held) drawn += part;
      assert.ok(decimal(row.drawn) <= drawn, `${reserve.id} is drawn in the database only`);
    }
  }
}

const ifBroken = (error: unknown) => {
  if (!isStorageDown(error)) throw error;
  return null;
};

const cost = (micros: number) => costing({ num: BigInt(micros), den: 1_000_000n }, 10);
const node = fc.nat(NODES - 1);
const which = fc.nat(20);
const micros = fc.integer({ min: 0, max: 2_000_000 });

/** What fails, and a part of the statement's text. */
const BREAKS: readonly [how: Break, text: string][] = [
  ["answer", "ledger_renew_reserves"],
  ["statement", "ledger_renew_reserves"],
  ["late", "ledger_renew_reserves"],
  ["answer", "ledger_run"],
  ["statement", "ledger_run"],
];

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
      await request.hold.settle(cost(micros), 1_000);
    }),
  },
  {
    weight: 1,
    arbitrary: which.map((which): Command => async (w) => {
      const request = w.pick(which);
      if (request === undefined) return;
      request.isOver = true;
      const { state } = await request.hold.release().catch(ifBroken) ??
        await request.hold.release();
      // What a sweeper has billed by its checkpoint stays.
      if (state === "released") request.micros = 0;
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
  {
    weight: 4,
    arbitrary: node.map((node): Command => (w) => w.nodes[node]!.ledger.reserves!.renew()),
  },
  { weight: 1, arbitrary: node.map((node): Command => (w) => w.kill(node)) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(500, 2_500, 7_000, 70_000).map((ms): Command => (w) => w.pass(ms)),
  },
  { weight: 1, arbitrary: fc.constant<Command>((w) => w.sweep()) },
  {
    weight: 2,
    arbitrary: fc.tuple(node, fc.constantFrom(...BREAKS)).map(
      ([node, [how, text]]): Command => (w) => w.break(node, how, text),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Command>((w) => w.arrive()) },
  {
    weight: 1,
    arbitrary: fc.subarray([0, 1, 2]).map((nodes): Command => (w) => w.recall(nodes)),
  },
);

Deno.test("random histories of nodes with reserves charge each request once and return the rest", async () => {
  await using fresh = await freshDatabase();
  await using database = await fresh.open();
  const { sql } = database;
  await installClock(sql, new Date(START).toISOString());
  const runs = propertyRuns(40);
  let drawn = 0;
  const property = fc.asyncProperty(
    fc.array(commands, { minLength: 20, maxLength: 60, size: "max" }),
    async (history) => {
      await sql`update test_clock set now = ${new Date(START)}`;
      const { id: account } = await createAccount(sql, { name: "tester" });
      await addCredit(sql, { account, kind: "cash", amount: "10000", reference: "start" });
      await using world = new World(database, account);
      for (const [at, command] of history.entries()) {
        await command(world);
        if (at % 10 === 9) await world.assertSound();
      }
      await world.settleDown();
      await world.assertSound({ isRenewed: true });
      await world.arrive();
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
    ...runs,
    endOnFailure: true,
  });
  assert.ok(drawn > 0);
});
