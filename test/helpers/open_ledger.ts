import { commitChange } from "../../src/platform/cluster/change.ts";
import type { Sql } from "postgres";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { newId } from "../../src/lib/ids.ts";
import { type Fraction, fraction } from "../../src/lib/money.ts";
import type { Price } from "../../src/platform/config/config.ts";
import { type Balance, readBalance } from "../../src/domain/ledger/balance.ts";
import { addCredit } from "../../src/domain/ledger/credit.ts";
import type { HoldRequest } from "../../src/domain/ledger/hold.ts";
import type { HoldRenewer } from "../../src/domain/ledger/hold_renewer.ts";
import { type Ledger, openLedger as open } from "../../src/domain/ledger/ledger.ts";
import { setPlan, storePlans } from "../../src/domain/ledger/plans.ts";
import type { Resolution } from "../../src/domain/ledger/settle.ts";
import { sweepLedger, type Swept } from "../../src/domain/ledger/sweep.ts";
import { verifyLedger } from "../../src/domain/ledger/verify.ts";
import type { Charge, Quote } from "../../src/domain/pricing/quote.ts";
import type { Usage, UsageKind } from "../../src/model_types/usage.ts";
import { type Cluster, joinCluster } from "../../src/platform/cluster/cluster.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { freshDatabase } from "./fresh_database.ts";
import { noLog } from "./logs.ts";

/** A ledger on a database of its own, with an account in it and a clock that the test sets. */
export interface TestLedger extends Ledger, AsyncDisposable {
  sql: Sql;
  database: Database;
  cluster: Cluster;
  /** Empty, unless cash was asked for. */
  account: string;
  /** Decimals of the currency; a test may change them. */
  scale: number;
  exceeded: Resolution[];
  strays: string[];
  newAccount(cash?: string): Promise<string>;
  balance(account?: string): Promise<Balance>;
  gift(amount: string, expiresAt?: string, account?: string): Promise<void>;
  setPlan(plan: string, expiresAt?: string, account?: string): Promise<void>;
  setClock(moment: string): Promise<void>;
  sweep(): Promise<Swept>;
  /** Throws unless every rule of the ledger holds. */
  mustBeSound(): Promise<void>;
}

export interface TestLedgerOptions {
  cash?: string;
  scale?: number;
  /** Left out, the database's own clock counts. */
  clock?: string;
  renewer?: HoldRenewer;
}

export const PLANS = [
  { id: "free", quotas: { text: 0, image: 0, video: 0 } },
  { id: "pro", quotas: { text: 1000, image: 10, video: 60 } },
  { id: "team", quotas: { text: 5000, image: 0, video: 0 } },
];

export async function openLedger(options: TestLedgerOptions = {}): Promise<TestLedger> {
  await using parts = new AsyncDisposableStack();
  const fresh = parts.use(await freshDatabase());
  const database = parts.use(await fresh.open());
  const { sql } = database;
  const cluster = parts.use(
    await joinCluster(database, {
      log: noLog,
      configVersion: () => "test",
      currency: () => "EUR",
      hostId: "test",
      queue: "kv",
      fingerprints: () => ({ secrets_keys: [], admin_token: "", file_store: "" }),
    }),
  );
  await storePlans(sql, PLANS);
  if (options.clock !== undefined) await installClock(sql, options.clock);
  const exceeded: Resolution[] = [];
  const strays: string[] = [];
  const ledger = open({
    database,
    money: () => ({ currency: "EUR", currencyScale: opened.scale }),
    onExceeded: (resolution) => exceeded.push(resolution),
    onOrphanedHold: (id) => strays.push(id),
    ...(options.renewer === undefined ? {} : { renewer: options.renewer }),
  });
  parts.use(ledger.pending);
  let references = 0;
  const newAccount = async (cash?: string) => {
    const { id } = await createAccount(sql, { name: "tester" });
    if (cash !== undefined) {
      await addCredit(sql, { account: id, kind: "cash", amount: cash, reference: "start" });
    }
    return id;
  };
  const account = await newAccount(options.cash);
  const closing = parts.move();
  const opened: TestLedger = {
    ...ledger,
    scale: options.scale ?? 6,
    sql,
    database,
    cluster,
    account,
    exceeded,
    strays,
    newAccount,
    balance: (of = account) => readBalance(sql, of, "USD"),
    gift: async (amount, expiresAt, to = account) =>
      void await addCredit(sql, {
        account: to,
        kind: "gift",
        amount,
        reference: `gift ${++references}`,
        expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt),
      }),
    setPlan: (plan, expiresAt, of = account) =>
      commitChange({ database, cluster }, (change) =>
        setPlan(change, {
          account: of,
          plan,
          expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt),
        })),
    setClock: async (moment) =>
      void await sql`update test_clock set now = ${moment}::text::timestamptz`,
    sweep: () => sweepLedger(sql, (resolution) => exceeded.push(resolution)),
    mustBeSound: async () => {
      const { ok, checks } = await verifyLedger(sql);
      if (!ok) {
        throw new Error(
          checks.filter(({ ok }) => !ok).map((c) => `${c.name}: ${c.detail}`).join("\n"),
        );
      }
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
  return opened;
}

/** Gives a test's database a clock that stands still until it is set. */
export async function installClock(sql: Sql, moment: string): Promise<void> {
  await sql`create table test_clock (now timestamptz not null)`;
  await sql`insert into test_clock values (${moment}::text::timestamptz)`;
  await sql.unsafe(`
    create or replace function ledger_now() returns timestamptz language sql volatile
    as 'select now from test_clock'`);
}

export const PRICE: Price = {
  book: "default",
  model: "sim-chat",
  billingType: "token",
  unit: "1K tokens",
  terms: { input_price: "0.01", output_price: "0.02" },
  effectiveAt: Date.parse("2026-01-01T00:00:00Z"),
};

export interface Asked {
  id?: string;
  account: string;
  amount: string | Fraction;
  units?: number;
  kind?: UsageKind | null;
  ttlSeconds?: number;
}

/** A request for a hold of a plain amount. */
export function asking(
  { id = newId("req"), account, amount, units = 0, kind = null, ...rest }: Asked,
): HoldRequest {
  const quote: Quote = {
    model: PRICE.model,
    kind,
    amount: typeof amount === "string" ? fraction(amount) : amount,
    units: BigInt(units),
    price: PRICE,
  };
  return { id, account, quote, ttlSeconds: rest.ttlSeconds ?? 600 };
}

/** A charge of a plain amount. */
export function costing(amount: string | Fraction, units = 0, usage: Usage = {}): Charge {
  return {
    amount: typeof amount === "string" ? fraction(amount) : amount,
    units: BigInt(units),
    usage,
  };
}
