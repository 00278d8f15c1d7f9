/**
 * `deno task move-drill [receipts]`
 *
 * `gateway move` of an installation with a million receipts (or as many as are named), tasks, files, webhooks and a
 * session: killed half way, started again, and everything looked at through the gateway on the server. Prints times and
 * memory; exits 1 when something is missing.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DURABLE, startPostgres } from "../../scripts/postgres.ts";
import { openDatabase } from "../../src/platform/database/postgres.ts";
import type { Json } from "../helpers/chat_gateway.ts";
import { copyEmbedded } from "../helpers/fresh_database.ts";
import { type GatewayProcess, startProcess } from "../helpers/gateway_process.ts";
import { noLog } from "../helpers/logs.ts";
import { memoryOf } from "../helpers/memory_of.ts";
import { Visitor } from "../helpers/visitor.ts";
import { fillHistory } from "./fill.ts";

const ADMIN_TOKEN = "drill-admin-token-0123456789";
const SECRETS_KEY = "drill-secrets-key-0123456789-0123456789";
const PROMPT = { model: "sim-image", prompt: "a tide", size: "512x512" };

const receipts = Number(Deno.args[0] ?? 1_000_000);
const wait = (ms: number) => new Promise((resume) => setTimeout(resume, ms));
const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** What clients have seen of the installation before the move. */
interface Seen {
  account: string;
  key: string;
  balance: Json;
  task: Json;
  bytes: Uint8Array;
  endpoint: string;
  secret: string;
  cookies: Map<string, string>;
}

async function call(address: string, path: string, key: string, body?: unknown): Promise<Json> {
  const response = await fetch(address + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  assert.ok(response.ok, `${path}: ${JSON.stringify(answer)}`);
  return answer;
}

async function startGateway(dataDir: string, databaseUrl?: string): Promise<GatewayProcess> {
  const process = startProcess({
    DATA_DIR: dataDir,
    ADMIN_TOKEN,
    SECRETS_KEY,
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  });
  for (let tries = 0; tries < 1200; tries++) {
    const response = await fetch(`${process.address}/readyz`).catch(() => null);
    await response?.body?.cancel();
    if (response?.ok) return process;
    await wait(100);
  }
  throw new Error(`The gateway is not ready: ${process.stderr()}`);
}

async function stopGateway(process: GatewayProcess): Promise<void> {
  process.signal("SIGTERM");
  assert.equal((await process.ended).code, 0, process.stderr());
  await process[Symbol.asyncDispose]();
}

/** An account with money, a task with a file, a webhook endpoint and a person who is signed in. */
async function useGateway({ address }: GatewayProcess): Promise<Seen> {
  const { id: account } = await call(address, "/admin/v1/accounts", ADMIN_TOKEN, { name: "drill" });
  const credit = { kind: "cash", amount: "100", reference: "drill" };
  await call(address, `/admin/v1/accounts/${account}/credits`, ADMIN_TOKEN, credit);
  const path = `/admin/v1/accounts/${account}/keys`;
  const { key } = await call(address, path, ADMIN_TOKEN, { name: "drill" });
  const messages = [{ role: "user", content: "hello" }];
  await call(address, "/v1/chat/completions", key, { model: "sim-chat", messages });
  let task = await call(address, "/v1/images/generations", key, PROMPT);
  while (task.completed_at === undefined || task.completed_at === null) {
    await wait(200);
    task = await call(address, `/v1/tasks/${task.id}`, key);
  }
  const made = await call(address, "/v1/webhook_endpoints", key, { url: "https://hooks.example/" });
  const visitor = new Visitor(address);
  await visitor.register("drill@example.org");
  return {
    account,
    key,
    balance: await call(address, "/v1/balance", key),
    task,
    bytes: await (await fetch(task.output[0].url)).bytes(),
    endpoint: made.id,
    secret: made.secret,
    cookies: visitor.cookies,
  };
}

/** Everything that was there before is there on the server, and the ledger is right. */
async function checkMoved({ address }: GatewayProcess, seen: Seen): Promise<void> {
  assert.deepEqual(await call(address, "/v1/balance", seen.key), seen.balance);
  const task = await call(address, `/v1/tasks/${seen.task.id}`, seen.key);
  assert.equal(task.status, "succeeded");
  const url = new URL(task.output[0].url);
  const file = await fetch(address + url.pathname + url.search);
  assert.deepEqual(await file.bytes(), seen.bytes);
  const { secret } = await call(
    address,
    `/v1/webhook_endpoints/${seen.endpoint}/secret`,
    seen.key,
  );
  assert.equal(secret, seen.secret);
  const visitor = new Visitor(address);
  for (const [name, value] of seen.cookies) visitor.cookies.set(name, value);
  assert.equal((await visitor.get("/console")).status, 200, "the session is still valid");
  const started = performance.now();
  const { ok, checks } = await call(address, "/admin/v1/ledger/verify", ADMIN_TOKEN);
  assert.ok(ok, JSON.stringify(checks));
  console.log(`ledger verify through the gateway: ${seconds(started)}`);
}

/** Runs `gateway move`, and kills it when it says `killAt`. */
async function move(dataDir: string, to: string, killAt?: RegExp): Promise<void> {
  const started = performance.now();
  const args = ["run", "-A", "--no-check", "src/cli/main.ts", "move", "--from", dataDir];
  await using process = startProcess({}, [...args, "--to", to]);
  let peak = 0;
  const timer = setInterval(() => {
    try {
      peak = Math.max(peak, memoryOf(process.pid));
    } catch {
      // It has just ended.
    }
  }, 200);
  try {
    if (killAt !== undefined) {
      await process.says(killAt, 3600);
      process.signal("SIGKILL");
      await process.ended;
      console.log(`killed after ${seconds(started)} at ${killAt}`);
      return;
    }
    const { code } = await process.ended;
    await process[Symbol.asyncDispose]();
    assert.equal(code, 0, process.stdout() + process.stderr());
    console.log(`${process.stderr()}${process.stdout()}`);
    console.log(`moved in ${seconds(started)}, ${peak.toFixed(0)} MiB of memory at most`);
  } finally {
    clearInterval(timer);
  }
}

async function countRows(databaseUrl: string, table: string): Promise<number> {
  await using database = await openDatabase({ databaseUrl, dataDir: "", log: noLog });
  const [found] = await database.sql`select to_regclass(${table}) is not null as is_there`;
  if (!found!.is_there) return 0;
  const [row] = await database.sql.unsafe(`select count(*)::int as rows from ${table}`);
  return row!.rows;
}

async function drill(): Promise<void> {
  await using parts = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "tollgate-move-" });
  parts.defer(() => Deno.remove(folder, { recursive: true }));
  const dataDir = join(folder, "data");
  await Deno.mkdir(dataDir);
  await copyEmbedded(dataDir);
  const postgres = parts.use(await startPostgres({ settings: DURABLE }));

  const before = await startGateway(dataDir);
  const seen = await useGateway(before);
  await stopGateway(before);
  const filling = performance.now();
  {
    await using database = await openDatabase({
      ...{ dataDir, log: noLog, engine: { statementMs: 3_600_000 } },
    });
    await fillHistory(database.sql, seen.account, receipts);
  }
  console.log(`filled with ${receipts} receipts in ${seconds(filling)}`);

  // Half of the receipts are copied, and nothing of it is committed.
  const half = Math.floor(receipts / 200_000) * 100_000;
  await move(dataDir, postgres.url, new RegExp(`^receipt: ${half || "\\d+"} rows`, "m"));
  assert.equal(await countRows(postgres.url, "account"), 0, "a killed move leaves no account");
  await move(dataDir, postgres.url);
  assert.ok(await countRows(postgres.url, "receipt") > receipts);

  const after = await startGateway(dataDir, postgres.url);
  await checkMoved(after, seen);
  await stopGateway(after);
  console.log("Balance, task, file, webhook secret and session are there.");
}

await drill();
Deno.exit(0);
