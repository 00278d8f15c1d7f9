import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { readBalance } from "../../src/domain/ledger/balance.ts";
import { addCredit } from "../../src/domain/ledger/credit.ts";
import type { Hold, HoldRequest } from "../../src/domain/ledger/hold.ts";
import { type Ledger, openLedger } from "../../src/domain/ledger/ledger.ts";
import { storePlans } from "../../src/domain/ledger/plans.ts";
import type { ReserveTiming } from "../../src/domain/ledger/reserve_timing.ts";
import { verifyLedger } from "../../src/domain/ledger/verify.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { freshDatabase } from "./fresh_database.ts";
import { noLog } from "./logs.ts";
import { asking, PLANS } from "./open_ledger.ts";

/** A node: a ledger with connections of its own. */
export interface ReserveNode {
  ledger: Ledger;
  database: Database;
  /** Requests may draw. */
  hold(request: Partial<Parameters<typeof asking>[0]> & { account: string }): Promise<Hold>;
  /** Makes requests until one draws: the node then has a reserve. */
  warm(account: string, amount: string, units?: number): Promise<void>;
  /** Stops without returning anything, as kill -9 does. */
  kill(): Promise<void>;
}

export interface ReserveNodes extends AsyncDisposable {
  nodes: ReserveNode[];
  sql: Database["sql"];
  newAccount(cash: string): Promise<string>;
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
    nodes.push(await openNode(parts, fresh, { ...TIMING, ...timing }));
  }
  const { sql } = nodes[0]!.database;
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
  timing: Partial<ReserveTiming>,
): Promise<ReserveNode> {
  const database = parts.use(await fresh.open());
  const listeners: ((account: string) => void)[] = [];
  const listening = await database.sql.listen("tollgate_announcement", (subject) => {
    for (const listener of listeners) listener(subject.replace(/^recall:/, ""));
  });
  parts.defer(() => listening.unlisten());
  const ledger = openLedger({
    database,
    money: () => ({ currency: "EUR", currencyScale: 6 }),
    onExceeded() {},
    onOrphanedHold() {},
    reserves: {
      nodeId: `node_${listeners.length}`,
      onRecall: (listener) => void listeners.push(listener),
      timing,
      log: noLog,
    },
  });
  parts.defer(() => ledger.reserves![Symbol.asyncDispose]());
  const hold: ReserveNode["hold"] = (asked) =>
    ledger.hold({
      ...asking({ amount: "1", units: 100, kind: "text", ...asked }),
      beyondHold: true,
      mayDraw: true,
    } as HoldRequest);
  return {
    ledger,
    database,
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
    async kill() {
      await database[Symbol.asyncDispose]();
    },
  };
}
