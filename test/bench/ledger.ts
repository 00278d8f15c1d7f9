/**
 * Charged requests per second by 64 callers, every one durable on a real Postgres with its shipped settings: held and
 * settled, and drawn from a reserve; on one hot account and on 1,000; beside the naive way in the same run, and again
 * with 10 million receipts in 24 partitions. Then what a receipt and the console's overview take in both.
 * `--rows=N` for another number, `--seconds=N` per round.
 */
import type { Sql } from "postgres";
import { DURABLE, startPostgres } from "../../scripts/postgres.ts";
import { newId } from "../../src/lib/ids.ts";
import type { HoldRequest } from "../../src/domain/ledger/hold.ts";
import { type Ledger, openLedger } from "../../src/domain/ledger/ledger.ts";
import { findReceipt, listUsage } from "../../src/domain/ledger/statement.ts";
import { rollUpUsage, usageChart } from "../../src/domain/ledger/usage_days.ts";
import { verifyLedger } from "../../src/domain/ledger/verify.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { dayAgo } from "../../src/site/console/usage_figures.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { RECEIPT_TABLE, TRANSFER_TABLE } from "../../src/platform/database/partitioned_tables.ts";
import { createPartitions } from "../../src/platform/database/partitions.ts";
import { openDatabase } from "../../src/platform/database/postgres.ts";
import { CHARGE, QUOTE } from "./chat_charge.ts";
import { median, printTable } from "./load.ts";
import { naivePair } from "./naive_ledger.ts";
import { noLog } from "../helpers/logs.ts";

const CALLERS = 64;
/** Receipts that share a transfer in what is seeded. */
const PER_BATCH = 50;
const ROUNDS = 5;
const READ_TURNS = 200;
const ROLL_UP_ROWS = 100_000;
const READS: readonly [string, (sql: Sql, account: string, id: string) => Promise<unknown>][] = [
  ["GET /v1/usage/{id}", (sql, account, id) => findReceipt(sql, account, id, "EUR")],
  ["the overview's chart", (sql, account) => usageChart(sql, account, dayAgo(30))],
  ["its chart of a year", (sql, account) => usageChart(sql, account, dayAgo(365))],
  [
    "the overview's list",
    (sql, account) => listUsage(sql, { account, limit: 8, order: "desc" }, "EUR"),
  ],
];
/** What serves the naive way best: with more, its connections wait for each other and for two cores. */
const CONNECTIONS = 8;

interface Ground {
  name: string;
  database: Database;
  ledger: Ledger;
  accounts: string[];
}

type Pair = (ground: Ground, request: HoldRequest) => Promise<void>;

async function held({ ledger }: Ground, request: HoldRequest): Promise<void> {
  await using hold = await ledger.hold(request);
  await hold.settle(CHARGE);
}

const drawn: Pair = (ground, request) => held(ground, { ...request, mayDraw: true });

const naive: Pair = ({ database }, request) => naivePair(database.sql, request);

export async function run(args: string[] = []): Promise<void> {
  const option = (name: string, otherwise: number) =>
    Number(args.find((arg) => arg.startsWith(`--${name}=`))?.split("=")[1] ?? otherwise);
  const seconds = option("seconds", 4);
  await using server = await startPostgres({ settings: DURABLE });
  await using parts = new AsyncDisposableStack();
  const empty = await openGround(parts, server.url, "ledger_empty");

  const table = [["requests/s", "held", "drawn", "naive", "held ratio", "drawn ratio"]];
  for (const accounts of [1, 1000]) {
    const [ours, byDraw, theirs] = await compare(seconds, accounts, [
      [empty, held],
      [empty, drawn],
      [empty, naive],
    ]) as [number, number, number];
    const rates = [ours, byDraw, theirs].map((rate) => rate.toFixed(0));
    const ratios = [ours, byDraw].map((rate) => (rate / theirs).toFixed(1));
    table.push([places(accounts), ...rates, ...ratios]);
  }
  printTable(table);

  const rows = option("rows", 10_000_000);
  const full = await openGround(parts, server.url, "ledger_full");
  const seededAt = performance.now();
  await seed(full.database.sql, rows);
  console.log(`\n${rows} receipts seeded in ${since(seededAt)} s`);
  const again = [["requests/s", `${rows} receipts`, "empty", "ratio"]];
  for (const [way, pair] of [["held", held], ["drawn", drawn]] as const) {
    for (const accounts of [1, 1000]) {
      const [many, none] = await compare(seconds, accounts, [[full, pair], [empty, pair]]);
      const ratio = (many! / none!).toFixed(2);
      again.push([`${way}, ${places(accounts)}`, many!.toFixed(0), none!.toFixed(0), ratio]);
    }
  }
  printTable(again);
  await compareReads(full, empty);
  for (const { name, database } of [empty, full]) {
    const startedAt = performance.now();
    const { ok, checks } = await verifyLedger(database.sql);
    console.log(
      `verify (${name}): ${ok ? "ok" : JSON.stringify(checks)} in ${since(startedAt)} s`,
    );
  }
}

const places = (accounts: number) => accounts === 1 ? "one hot account" : `${accounts} accounts`;
const since = (moment: number) => ((performance.now() - moment) / 1000).toFixed(1);

/** Contestants in turns, so that whatever else the machine does concerns all of them; medians. */
async function compare(
  seconds: number,
  accounts: number,
  contestants: [Ground, Pair][],
): Promise<number[]> {
  const seen = contestants.map((): number[] => []);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [at, [ground, pair]] of contestants.entries()) {
      const rate = await measure(round === 0 ? 1 : seconds, ground, accounts, pair);
      if (round > 0) seen[at]!.push(rate); // the first is for warming up
    }
  }
  return seen.map(median);
}

async function measure(
  seconds: number,
  ground: Ground,
  accounts: number,
  pair: Pair,
): Promise<number> {
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;
  let pairs = 0;
  await Promise.all(Array.from({ length: CALLERS }, async () => {
    while (performance.now() < until) {
      const account = ground.accounts[Math.floor(Math.random() * accounts)]!;
      await pair(ground, { id: newId("req"), account, quote: QUOTE, ttlSeconds: 600 });
      pairs++;
    }
  }));
  return pairs / ((performance.now() - startedAt) / 1000);
}

/** What the API and the console read, in turns; medians. */
async function compareReads(full: Ground, empty: Ground): Promise<void> {
  // As the gateway does every few seconds.
  for (const { database } of [full, empty]) await rollUpUsage(database.sql, ROLL_UP_ROWS);
  const table = [["microseconds a read", "full", "empty", "ratio"]];
  for (const [name, read] of READS) {
    const seen: [number[], number[]] = [[], []];
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [at, ground] of [full, empty].entries()) {
        const account = ground.accounts[round]!;
        // A receipt of the first month, where there is one.
        const [row] = await ground.database.sql<[{ id: string }?]>`
          select id from receipt where account_id = ${account} order by created_at limit 1`;
        const startedAt = performance.now();
        for (let turn = 0; turn < READ_TURNS; turn++) {
          await read(ground.database.sql, account, row?.id ?? newId("req"));
        }
        const micros = (performance.now() - startedAt) / READ_TURNS * 1000;
        if (round > 0) seen[at]!.push(micros);
      }
    }
    const [many, none] = seen.map(median) as [number, number];
    table.push([name, many.toFixed(0), none.toFixed(0), (many / none).toFixed(2)]);
  }
  console.log();
  printTable(table);
}

async function openGround(
  parts: AsyncDisposableStack,
  server: string,
  name: string,
): Promise<Ground> {
  const url = new URL(server);
  const maintenance = await openDatabase({ databaseUrl: server, dataDir: "", log: noLog });
  await maintenance.sql.unsafe(`create database ${name}`);
  await maintenance[Symbol.asyncDispose]();
  url.pathname = name;
  const database = parts.use(
    await openDatabase({
      databaseUrl: url.href,
      dataDir: "",
      log: noLog,
      connections: CONNECTIONS,
    }),
  );
  await migrate(database.sql);
  const ledger = openLedger({
    database,
    money: () => ({ currency: "EUR", currencyScale: 6 }),
    onExceeded() {},
    onOrphanedHold() {},
    reserves: { nodeId: newId("node"), onRecall() {}, log: noLog },
  });
  if (ledger.reserves !== null) parts.use(ledger.reserves);
  const accounts = Array.from({ length: 1000 }, () => newId("acc"));
  await database
    .sql`insert into account (id, name) select id, 'bench' from unnest(${accounts}::text[]) id`;
  await database.sql`
    select ledger_credit(id, 'start', 'cash', 1000000000, null, null) from account`;
  // Not all tables: of those that are empty, plans would be made for empty ones.
  await database.sql`vacuum analyze account, wallet, balance_bucket, plan_term`;
  return { name, database, ledger, accounts };
}

/** Old receipts of the same accounts over two years, with their transfers. Indexes are built once, at the end. */
async function seed(sql: Sql, rows: number): Promise<void> {
  const now = new Date();
  const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 23));
  const tables = [RECEIPT_TABLE, TRANSFER_TABLE].map((table) => ({ ...table, ahead: 23 }));
  await createPartitions(sql, tables, { now: first });
  await sql.unsafe(`
    alter table receipt drop constraint receipt_pkey;
    alter table transfer drop constraint transfer_pkey;
    drop index receipt_account, receipt_resolved, receipt_shortfall, transfer_account;
    create temporary table past as
    select n, n / ${PER_BATCH} as batch, a.id as account,
           now() - interval '23 months' + n / ${PER_BATCH} * (interval '22 months' / ${
    Math.ceil(rows / PER_BATCH)
  }) as at
      from generate_series(0, ${rows - 1}) n
      join (select id, row_number() over (order by id) - 1 as at from account) a
        on a.at = (n / ${PER_BATCH}) % 1000;
    insert into receipt (id, account_id, request_id, model, kind, state, scale, amount, units, allocations, held, taken,
                         shortfall, beyond_hold, price, usage, created_at, resolved_at, batch)
    select ledger_id_at(at) || lpad(n::text, 16, '0'), account, 'req_' || n, 'sim-chat', 'text', 'settled', 6,
           0.123456, 500, array['cash:' || account], array[0.123456], array[0.003456], 0, true,
           '{"book":"default","unit":"1M tokens","model":"sim-chat","billing_type":"token","input_price":"1"}',
           '{"input_tokens":100,"output_tokens":400}', at, at, md5(batch::text)::uuid
      from past;
    insert into transfer (id, unit, debit, credit, amount, account_id, kind, created_at, batch)
    select md5(batch::text)::uuid || '/cash:' || account, 'money', 'cash:' || account, 'revenue', sum(0.003456),
           account, 'capture', at, md5(batch::text)::uuid
      from past group by batch, account, at;
    insert into transfer (id, unit, debit, credit, amount, account_id, kind, reference, created_at)
    select 'credit:' || account || ':past', 'money', 'topup', 'cash:' || account, sum(0.003456), account, 'credit',
           'past', min(at)
      from past group by account;
    alter table receipt add primary key (id);
    alter table transfer add primary key (id, created_at);
    create index receipt_account on receipt (account_id, created_at, id);
    create index receipt_resolved on receipt (resolved_at, account_id);
    create index receipt_shortfall on receipt (account_id, resolved_at) where shortfall > 0;
    create index transfer_account on transfer (account_id, created_at, id);`);
  await sql`vacuum analyze receipt, transfer`;
  await sql`checkpoint`;
}

if (import.meta.main) {
  await run(Deno.args);
  Deno.exit(0);
}
