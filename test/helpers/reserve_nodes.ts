import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { readBalance } from "../../src/domain/ledger/balance.ts";
import { addCredit } from "../../src/domain/ledger/credit.ts";
import type { Hold, HoldRequest } from "../../src/domain/ledger/hold.ts";
import { type Ledger, openLedger } from "../../src/domain/ledger/ledger.ts";
import { setPlan, storePlans } from "../../src/domain/ledger/plans.ts";
import type { Draw } from "../../src/domain/ledger/reserve.ts";
import type { ReserveTiming } from "../../src/domain/ledger/reserve_timing.ts";
import { verifyLedger } from "../../src/domain/ledger/verify.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { breakable, type BreakableDatabase } from "./breakable_database.ts";
import { freshDatabase } from "./fresh_database.ts";
import { noLog } from "./logs.ts";
import { asking, PLANS } from "./open_ledger.ts";

/** A node: a ledger with connections of its own. */
export interface ReserveNode {
  ledger: Ledger;
  database: BreakableDatabase;
  /** Gets no notifications. */
  isDeaf: boolean;
  /** Requests that could not draw: they waited for a statement. */
  missed: number;
  /** What requests have drawn and not ended. */
  draws(): Draw[];
  /** Requests may draw. */
  hold(request: Partial<Parameters<typeof asking>[0]> & { account: string }): Promise<Hold>;
  /** Makes requests until one draws: the node then has a reserve. */
  warm(account: string, amount: string, units?: number): Promise<void>;
  /** Nothing of it reaches the database any more, as after kill -9. */
  kill(): void;
}

export interface ReserveNodes extends AsyncDisposable {
  nodes: ReserveNode[];
  sql: Database["sql"];
  newAccount(cash: string): Promise<string>;
  setPlan(account: string, plan: string): Promise<void>;
  /** Keeps the account's wallet locked until the result is called. */
  lock(account: string): Promise<() => Promise<void>>;
  balance(account: string): ReturnType<typeof readBalance>;
  /** What is reserved of an account, drawn or not. */
  reserved(account: string): Promise<string>;
  mustBeSound(): Promise<void>;
}

/** Fast enough for a test, in the proportions of the real ones. */
const TIMING: Partial<ReserveTiming> = { leaseMs: 1_500, renewMs: 300, marginMs: 100, tickMs: 50 };

/** Several nodes with reserves on one database. */
export async function openReserveNodes(
  count: number,
  timing: Partial<ReserveTiming> = {},
): Promise<ReserveNodes> {
  await using parts = new AsyncDisposableStack();
  const fresh = parts.use(await freshDatabase());
  const nodes: ReserveNode[] = [];
  for (let at = 0; at < count; at++) {
    nodes.push(await openNode(parts, fresh, `node_${at}`, { ...TIMING, ...timing }));
  }
  const own = parts.use(await fresh.open());
  const { sql } = own;
  await storePlans(sql, PLANS);
  const closing = parts.move();
  return {
    nodes,
    sql,
    async newAccount(cash) {
      const { id } = await createAccount(sql, { name: "tester" });
      await addCredit(sql, { account: id, kind: "cash", amount: cash, reference: "start" });
      return id;
    },
    async setPlan(account, plan) {
      await setPlan({ sql, notify: () => Promise.resolve(), afterCommit() {} }, { account, plan });
    },
    async lock(account) {
      const [locked, enough] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const locking = sql.begin(async (tx) => {
        await tx`select from wallet where account_id = ${account} for update`;
        locked.resolve();
        await enough.promise;
      });
      await locked.promise;
      return async () => {
        enough.resolve();
        await locking;
      };
    },
    balance: (account) => readBalance(sql, account, "USD"),
    async reserved(account) {
      const [row] = await sql<[{ amount: string }]>`
        select trim_scale(coalesce(sum(h), 0))::text as amount
          from reserve, unnest(held) h where account_id = ${account}`;
      return row.amount;
    },
    async mustBeSound() {
      const { checks } = await verifyLedger(sql);
      const wrong = checks.filter(({ ok }) => !ok).map((c) => `${c.name}: ${c.detail}`);
      if (wrong.length > 0) throw new Error(wrong.join("\n"));
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

async function openNode(
  parts: AsyncDisposableStack,
  fresh: Awaited<ReturnType<typeof freshDatabase>>,
  nodeId: string,
  timing: Partial<ReserveTiming>,
): Promise<ReserveNode> {
  const database = breakable(parts.use(await fresh.open()));
  const drawn: Draw[] = [];
  const listeners: ((account: string) => void)[] = [];
  const listening = await database.sql.listen("tollgate_announcement", (subject) => {
    if (node.isDeaf) return;
    for (const listener of listeners) listener(subject.replace(/^recall:/, ""));
  });
  parts.defer(() => listening.unlisten());
  const ledger = openLedger({
    database,
    money: () => ({ currency: "EUR", currencyScale: 6 }),
    onExceeded() {},
    onOrphanedHold() {},
    reserves: {
      nodeId,
      onRecall: (listener) => void listeners.push(listener),
      timing,
      log: noLog,
    },
  });
  parts.defer(() => ledger.pending[Symbol.asyncDispose]());
  const reserves = ledger.reserves!;
  parts.defer(async () => {
    await reserves[Symbol.asyncDispose]();
    await database.rest();
  });
  const draw = reserves.draw.bind(reserves);
  reserves.draw = (...args) => {
    const made = draw(...args);
    if (made === null) node.missed++;
    else drawn.push(made);
    return made;
  };
  const hold: ReserveNode["hold"] = (asked) =>
    ledger.hold({
      ...asking({ amount: "1", units: 100, kind: "text", ...asked }),
      beyondHold: true,
      mayDraw: true,
    } as HoldRequest);
  const node: ReserveNode = {
    ledger,
    database,
    isDeaf: false,
    missed: 0,
    draws: () => drawn.filter((draw) => draw.reserve.draws.has(draw)),
    hold,
    async warm(account, amount, units = 100) {
      for (let tries = 0; tries < 100; tries++) {
        const held = await hold({ account, amount, units });
        const { id } = held;
        await held.release();
        const [row] = await database.sql`select from hold where id = ${id}`;
        const [reserve] = await database.sql`select from reserve where account_id = ${account}`;
        if (row === undefined && reserve !== undefined) return;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      throw new Error("No reserve was made");
    },
    kill: () => void (database.isAway = true),
  };
  return node;
}
