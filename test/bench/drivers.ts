/**
 * The two drivers of Postgres on the statements of a chat: pairs of hold and settlement through the ledger,
 * whose batches run on our connections of postgres.js or on a pool of `pg`, in turns, on one durable server.
 * Rates, and the time of this process per pair. Then a connection that is lost inside a transaction.
 * `--seconds=N` per round, `--rounds=N`.
 */
import process from "node:process";
// @ts-types="@types/pg"
import pg from "pg";
import type postgres from "postgres";
import { DURABLE, startPostgres } from "../../scripts/postgres.ts";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { addCredit } from "../../src/domain/ledger/credit.ts";
import { type Ledger, openLedger } from "../../src/domain/ledger/ledger.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { openDatabase } from "../../src/platform/database/postgres.ts";
import { openPgPool } from "../../src/platform/queue/pg_pool.ts";
import { noLog } from "../helpers/logs.ts";
import { CHARGE, QUOTE } from "./chat_charge.ts";
import { median, printTable } from "./load.ts";

const CONNECTIONS = 8;

interface Measured {
  rate: number;
  cpuMicros: number;
}

export async function run(args: string[] = []): Promise<void> {
  const option = (name: string, otherwise: number) =>
    Number(args.find((arg) => arg.startsWith(`--${name}=`))?.split("=")[1] ?? otherwise);
  const [seconds, rounds] = [option("seconds", 3), option("rounds", 5)];
  await using server = await startPostgres({ settings: DURABLE });
  await using database = await openDatabase({
    databaseUrl: server.url,
    dataDir: "",
    log: noLog,
    connections: CONNECTIONS,
  });
  await migrate(database.sql);
  const { id: account } = await createAccount(database.sql, { name: "bench" });
  await addCredit(database.sql, { account, kind: "cash", amount: "1000000", reference: "start" });
  const pool = openPgPool(server.url, CONNECTIONS);
  const plainPool = new pg.Pool({ connectionString: server.url, max: CONNECTIONS });
  const contestants = {
    "postgres.js": ledgerOn(database),
    "pg": ledgerOn({ ...database, sql: sqlOn(pool) }),
    "pg with node:net": ledgerOn({ ...database, sql: sqlOn(plainPool) }),
  };

  const table = [["callers", "driver", "pairs/s", "ratio", "CPU per pair", "ratio"]];
  for (const callers of [1, 16, 64]) {
    const measured = await compare(
      Object.values(contestants),
      (ledger, isWarmUp) => measure(ledger, account, { callers, seconds: isWarmUp ? 1 : seconds }),
      rounds,
    );
    Object.keys(contestants).forEach((name, at) => {
      const [first, one] = [measured[0]!, measured[at]!];
      table.push([
        String(callers),
        name,
        one.rate.toFixed(0),
        (one.rate / first.rate).toFixed(2),
        `${one.cpuMicros.toFixed(0)} µs`,
        (one.cpuMicros / first.cpuMicros).toFixed(2),
      ]);
    });
  }
  printTable(table);
  console.log(`\nlost in a transaction, ours: ${await loseOurs(database.sql)}`);
  console.log(`lost in a transaction, pg: ${await losePg(pool, database.sql)}`);
  await pool.end();
  await plainPool.end();
}

/** Contestants in turns, so that other load of the machine concerns all of them; medians. */
async function compare(
  ledgers: readonly Ledger[],
  measureOne: (ledger: Ledger, isWarmUp: boolean) => Promise<Measured>,
  rounds: number,
): Promise<Measured[]> {
  const measured: Measured[][] = ledgers.map(() => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [at, ledger] of ledgers.entries()) {
      const one = await measureOne(ledger, round === 0);
      if (round > 0) measured[at]!.push(one);
    }
  }
  return measured.map((all) => ({
    rate: median(all.map(({ rate }) => rate)),
    cpuMicros: median(all.map(({ cpuMicros }) => cpuMicros)),
  }));
}

function ledgerOn(database: Database): Ledger {
  return openLedger({
    database,
    money: () => ({ currency: "EUR", currencyScale: 6 }),
    onExceeded() {},
    onOrphanedHold() {},
  });
}

const NUMERIC_ARRAY = 1231;
const TEXT_ARRAY = 1009;
/** By default `pg` makes floating point numbers of numeric arrays, which is no way to read money. */
const types = {
  getTypeParser: (oid: number, format?: string) =>
    pg.types.getTypeParser(oid === NUMERIC_ARRAY ? TEXT_ARRAY : oid, format as never),
};

/** As much of `sql` as the ledger's batches need, with prepared statements by name. */
function sqlOn(pool: ReturnType<typeof openPgPool>): postgres.Sql {
  const names = new Map<string, string>();
  const sql = async (strings: TemplateStringsArray, ...values: unknown[]) => {
    const text = strings.reduce((all, part, at) => `${all}$${at}${part}`);
    let name = names.get(text);
    if (name === undefined) names.set(text, name = `s${names.size}`);
    return (await pool.query({ name, text, values, types } as pg.QueryConfig)).rows;
  };
  return sql as unknown as postgres.Sql;
}

async function measure(
  ledger: Ledger,
  account: string,
  { callers, seconds }: { callers: number; seconds: number },
): Promise<Measured> {
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;
  let pairs = 0;
  await Promise.all(Array.from({ length: callers }, async () => {
    while (performance.now() < until) {
      await using hold = await ledger.hold({
        id: newId("req"),
        account,
        quote: QUOTE,
        ttlSeconds: 600,
      });
      await hold.settle(CHARGE);
      pairs++;
    }
  }));
  const { user, system } = process.cpuUsage(cpu);
  return {
    rate: pairs / ((performance.now() - startedAt) / 1000),
    cpuMicros: (user + system) / pairs,
  };
}

async function loseOurs(sql: postgres.Sql): Promise<string> {
  const result = await sql.begin(async (tx) => {
    const [row] = await tx`select pg_backend_pid() as pid`;
    await sql`select pg_terminate_backend(${row!.pid})`;
    await tx`select 1`;
    return "no error";
  }).catch((error) => `the transaction fails with ${error.code}`);
  const startedAt = performance.now();
  await sql`select 1`;
  return `${result}; the next query succeeds after ${
    (performance.now() - startedAt).toFixed(1)
  } ms`;
}

async function losePg(
  pool: ReturnType<typeof openPgPool>,
  sql: postgres.Sql,
): Promise<string> {
  const client = await pool.connect();
  await client.query("begin");
  const { rows } = await client.query("select pg_backend_pid() as pid");
  await sql`select pg_terminate_backend(${rows[0].pid})`;
  const error = await client.query("select 1").then(() => null, (error) => error);
  const rollback = await client.query("rollback").then(() => null, (error) => error);
  client.release(error ?? rollback ?? undefined);
  const startedAt = performance.now();
  await pool.query("select 1");
  return `the query fails with ${error?.code ?? error?.message}, the rollback with ${
    rollback?.code ?? rollback?.message
  }; the next query succeeds after ${(performance.now() - startedAt).toFixed(1)} ms`;
}
