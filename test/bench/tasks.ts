/**
 * Tasks per second from POST to succeeded and settled, on a real Postgres with its shipped settings, the
 * queue in Deno KV and the simulator without delay; what a POST takes beside one row inserted through the
 * same pool, in turns; and both again with 100,000 finished and 10,000 waiting tasks in the table.
 * `--tasks=N` per round, `--rounds=N`.
 */
import { join } from "node:path";
import type { Sql } from "postgres";
import { DURABLE, startPostgres } from "../../scripts/postgres.ts";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { createKey } from "../../src/domain/accounts/api_keys.ts";
import { type Gateway, openGateway } from "../../src/app/open_gateway.ts";
import { addCredit } from "../../src/domain/ledger/credit.ts";
import { verifyLedger } from "../../src/domain/ledger/verify.ts";
import { TASK_RULES } from "../../src/workflows/tasks/verify_tasks.ts";
import { openLog } from "../../src/platform/telemetry/log.ts";
import { median, printTable } from "./load.ts";
import { noLog } from "../helpers/logs.ts";

const CLIENTS = 32;
/** Enough to see the hundredth; few enough at once that the machine itself does not queue. */
const LATENCY_CLIENTS = 4;
const LATENCY_TURNS = 150;

const CONFIG = `
service: { name: Bench }
limits: { default: { requests_per_minute: 10000000, running_tasks: 1000000 } }
providers:
  simulator: { adapter: simulator, headers: { x-simulate: "seconds=0" } }
models:
  - id: image-model
    name: Image
    type: image
    capabilities: [text_to_image]
    limits: { sizes: [64x64], max_count: 1 }
    upstreams: [{ provider: simulator, model: image }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00+00:00
    entries: [{ model: image-model, billing_type: per_call, price: "0.04", unit: image }]
`;

interface Ground extends AsyncDisposable {
  gateway: Gateway;
  account: string;
  key: string;
}

interface Figures {
  rate: number;
  post: [p50: number, p99: number];
  insert: [p50: number, p99: number];
}

export async function run(args: string[] = []): Promise<void> {
  const option = (name: string, otherwise: number) =>
    Number(args.find((arg) => arg.startsWith(`--${name}=`))?.split("=")[1] ?? otherwise);
  const [tasks, rounds] = [option("tasks", 400), option("rounds", 3)];
  await using server = await startPostgres({ settings: DURABLE });
  await using parts = new AsyncDisposableStack();
  const empty = parts.use(await openGround(server.url, "tasks_empty"));
  const full = parts.use(await openGround(server.url, "tasks_full"));
  await seed(full.gateway.database.sql, full.account);

  const seen = new Map<Ground, Figures[]>([[empty, []], [full, []]]);
  for (let round = 0; round <= rounds; round++) {
    for (const [ground, figures] of seen) {
      const one = await measure(ground, round === 0 ? 50 : tasks);
      if (round > 0) figures.push(one); // the first is for warming up
    }
  }
  const middle = (figures: Figures[], of: (one: Figures) => number) => median(figures.map(of));
  const rows = [[
    "",
    "tasks/s",
    "POST p50",
    "p99 (ms)",
    "insert p50",
    "p99 (ms)",
    "p50 ratio",
    "p99 ratio",
  ]];
  for (const [ground, name] of [[empty, "empty"], [full, "110,000 tasks"]] as const) {
    const figures = seen.get(ground)!;
    rows.push([
      name,
      middle(figures, ({ rate }) => rate).toFixed(0),
      middle(figures, ({ post }) => post[0]).toFixed(1),
      middle(figures, ({ post }) => post[1]).toFixed(1),
      middle(figures, ({ insert }) => insert[0]).toFixed(1),
      middle(figures, ({ insert }) => insert[1]).toFixed(1),
      middle(figures, ({ post, insert }) => post[0] / insert[0]).toFixed(2),
      middle(figures, ({ post, insert }) => post[1] / insert[1]).toFixed(2),
    ]);
  }
  printTable(rows);
  for (const [ground] of seen) {
    const { ok, checks } = await verifyLedger(ground.gateway.database.sql, TASK_RULES);
    if (!ok) throw new Error(`The books are wrong: ${JSON.stringify(checks)}`);
  }
  console.log("The books are in order.");
}

async function measure(ground: Ground, tasks: number): Promise<Figures> {
  const rate = await throughput(ground, tasks);
  const [post, insert] = await latencies(ground);
  return { rate, post, insert };
}

async function submit({ gateway, key }: Ground): Promise<void> {
  const res = await fetch(`${gateway.address}/v1/images/generations`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: '{"model":"image-model","prompt":"a tide"}',
  });
  const text = await res.text();
  if (res.status !== 202) throw new Error(text);
}

export async function throughput(ground: Ground, tasks: number): Promise<number> {
  const startedAt = performance.now();
  let left = tasks;
  await Promise.all(Array.from({ length: CLIENTS }, async () => {
    while (left-- > 0) await submit(ground);
  }));
  await settled(ground);
  return tasks / ((performance.now() - startedAt) / 1000);
}

/** Until nothing of what was submitted lives any more. */
async function settled({ gateway: { database: { sql } }, account }: Ground): Promise<void> {
  while (true) {
    const [row] = await sql<[{ n: number }]>`
      select count(*)::int as n from task
       where account_id = ${account} and wake_at < now() + interval '30 minutes'`;
    if (row.n === 0) return;
    await new Promise((resume) => setTimeout(resume, 20));
  }
}

async function latencies(ground: Ground): Promise<[Figures["post"], Figures["insert"]]> {
  const { sql } = ground.gateway.database;
  const posts: number[] = [];
  const inserts: number[] = [];
  const timed = async (times: number[], work: () => Promise<unknown>) => {
    const startedAt = performance.now();
    await work();
    times.push(performance.now() - startedAt);
  };
  await Promise.all(Array.from({ length: LATENCY_CLIENTS }, async () => {
    for (let turn = 0; turn < LATENCY_TURNS; turn++) {
      await timed(posts, () => submit(ground));
      await timed(inserts, () => sql`insert into bench_row (body) values (${"x".repeat(500)})`);
    }
  }));
  await settled(ground);
  return [quantiles(posts), quantiles(inserts)];
}

function quantiles(times: number[]): [number, number] {
  const sorted = times.toSorted((a, b) => a - b);
  return [sorted[Math.floor(sorted.length * 0.5)]!, sorted[Math.floor(sorted.length * 0.99)]!];
}

export async function openGround(server: string, name: string): Promise<Ground> {
  await using parts = new AsyncDisposableStack();
  const dataDir = await Deno.makeTempDir({ prefix: "tollgate-bench-" });
  parts.defer(() => Deno.remove(dataDir, { recursive: true }));
  const configFile = join(dataDir, "gateway.yaml");
  await Deno.writeTextFile(configFile, CONFIG);
  await createDatabase(server, name);
  const url = new URL(server);
  url.pathname = name;
  const gateway = parts.use(
    await openGateway({
      host: "127.0.0.1",
      port: 0,
      configFile,
      dataDir,
      databaseUrl: url.href,
      databaseWaitSeconds: 10,
      adminToken: "bench-admin-token",
      secretsKeys: [],
      metricsToken: undefined,
      isDrill: false,
      tracing: null,
      workers: 1,
      watchdogSeconds: 0,
      onDeploy: false,
      logLevel: "error",
      logFormat: "json",
      log: openLog({ level: "error", format: "json" }),
      environment: {},
    }),
  );
  const { sql } = gateway.database;
  const { id: account } = await createAccount(sql, { name: "bench" });
  const { key } = await createKey(sql, account, "bench");
  await addCredit(sql, { account, kind: "cash", amount: "1000000", reference: "start" });
  await sql`create table bench_row (id bigint generated always as identity primary key, body text)`;
  const closing = parts.move();
  return { gateway, account, key, [Symbol.asyncDispose]: () => closing.disposeAsync() };
}

async function createDatabase(server: string, name: string): Promise<void> {
  const { openDatabase } = await import("../../src/platform/database/postgres.ts");
  await using maintenance = await openDatabase({ databaseUrl: server, dataDir: "", log: noLog });
  await maintenance.sql.unsafe(`create database ${name}`);
}

const PRICE =
  '{"book":"default","unit":"image","model":"image-model","price":"0.04","billing_type":"per_call","effective_at":"2026-01-01T00:00:00.000Z"}';

/** Old tasks of other accounts, and of this one some that wait for a later hour. */
async function seed(sql: Sql, account: string): Promise<void> {
  await sql.unsafe(`
    insert into receipt (id, account_id, request_id, model, kind, state, scale, amount, units, allocations, held,
                         taken, shortfall, beyond_hold, price, created_at, resolved_at, batch)
    select 'req_00' || lpad(n::text, 24, '0'), '${account}', 'req_00' || lpad(n::text, 24, '0'), 'image-model',
           'image', 'released', 6, 0, 1, '{}', '{}', '{}', 0, false, '${PRICE}', now() - interval '1 day', now(),
           gen_random_uuid()
      from generate_series(0, 99999) n;
    insert into hold (id, account_id, request_id, model, kind, scale, amount, units, allocations, held, price,
                      created_at, expires_at)
    select 'req_00' || lpad(n::text, 24, '0'), '${account}', 'req_00' || lpad(n::text, 24, '0'), 'image-model',
           'image', 6, 0, 1, '{}', '{}', '${PRICE}', now() - interval '1 day', now() + interval '1 year'
      from generate_series(100000, 109999) n;
    insert into task (id, account_id, request_id, type, model, status, job, config_version, created_at,
                      deadline_at, deadline_seconds, completed_at, wake_at)
    select 'task_00' || lpad(n::text, 24, '0'), '${account}', 'req_00' || lpad(n::text, 24, '0'), 'image',
           'image-model', case when n < 100000 then 'failed' else 'queued' end,
           '{"prompt":"a tide","inputs":[],"parameters":{"n":1,"size":"64x64"}}', 'bench',
           now() - interval '1 day', now() + interval '1 day', 1800,
           case when n < 100000 then now() end, case when n >= 100000 then now() + interval '12 hours' end
      from generate_series(0, 109999) n;
    insert into task_load (account_id, active) values ('${account}', 10000);`);
  await sql`vacuum analyze`;
  await sql`checkpoint`;
}

if (import.meta.main) {
  await run(Deno.args);
  Deno.exit(0);
}
