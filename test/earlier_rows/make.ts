/**
 * `deno run -A test/earlier_rows/make.ts <commit>`: writes what the gateway of an earlier tree leaves in its database
 * after some use, for earlier_rows_test.ts. The first migration of that tree must be this tree's, and its only one.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import postgres from "postgres";
import { startPostgres } from "../../scripts/postgres.ts";
import { extractTree } from "../chaos/earlier_tree.ts";
import type { Json } from "../helpers/chat_gateway.ts";
import { type GatewayProcess, startProcess } from "../helpers/gateway_process.ts";
import { Visitor } from "../helpers/visitor.ts";
import type { EarlierRows } from "./earlier_rows.ts";

const ADMIN_TOKEN = "earlier-admin-token-0123456789";
const wait = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

async function call(address: string, path: string, key: string, body?: unknown): Promise<Json> {
  const response = await fetch(address + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${path}: ${text}`);
  return text.startsWith("{") ? JSON.parse(text) : text;
}

/** Money of every kind, chats, finished, failed, cancelled and running tasks, a webhook endpoint, a person. */
async function useGateway({ address }: GatewayProcess): Promise<EarlierRows["seen"]> {
  const admin = (path: string, body: unknown) =>
    call(address, `/admin/v1${path}`, ADMIN_TOKEN, body);
  const { id } = await admin("/accounts", { name: "earlier" });
  const gift = {
    kind: "gift",
    amount: "0.0001",
    reference: "g",
    expires_at: "2099-01-01T00:00:00Z",
  };
  await admin(`/accounts/${id}/credits`, { kind: "cash", amount: "20", reference: "c" });
  await admin(`/accounts/${id}/credits`, gift);
  const { key } = await admin(`/accounts/${id}/keys`, { name: "earlier" });
  const { id: endpoint, secret } = await call(address, "/v1/webhook_endpoints", key, {
    url: "https://hooks.example/in",
  });
  const messages = [{ role: "user", content: "hello" }];
  for (const stream of [false, true]) {
    await call(address, "/v1/chat/completions", key, { model: "sim-chat", messages, stream });
  }
  // From here on a quota pays.
  await fetch(`${address}/admin/v1/accounts/${id}/plan`, {
    method: "PUT",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ plan: "pro" }),
  }).then((response) => response.json());
  const image = { model: "sim-image", prompt: "a tide" };
  const { id: task } = await call(address, "/v1/images/generations", key, image);
  for (let seen: Json = {}; !seen.completed_at; await wait(200)) {
    seen = await call(address, `/v1/tasks/${task}`, key);
  }
  const video = { model: "sim-video", prompt: "a tide", duration: 5 };
  const { id: cancelled } = await call(address, "/v1/videos/generations", key, video);
  await call(address, `/v1/tasks/${cancelled}/cancel`, key, {});
  await new Visitor(address).register("earlier@example.org");
  await wait(2_000);
  const { available_balance: available } = await call(address, "/v1/balance", key);
  const { data } = await call(address, "/v1/usage?limit=100", key);
  // Still running when the process ends.
  const { id: running } = await call(address, "/v1/videos/generations", key, video);
  const charged = data.map(({ request_id, settled }: Json) => [request_id, settled]);
  return { account: id, key, available, charged, task, running, endpoint, secret };
}

async function readRows(url: string): Promise<Record<string, string[]>> {
  const sql = postgres(url, { max: 1, fetch_types: false });
  try {
    const tables = await sql<{ name: string }[]>`
      select relname as name from pg_class
       where relnamespace = 'public'::regnamespace and relkind = 'r'
         and relname not in ('migration', 'migration_function', 'node') order by relname`;
    const rows: Record<string, string[]> = {};
    for (const { name } of tables) {
      const lines = await sql.unsafe<{ line: string }[]>(`select t::text as line from ${name} t`);
      if (lines.length > 0) rows[name] = lines.map(({ line }) => line);
    }
    return rows;
  } finally {
    await sql.end();
  }
}

const [commit = ""] = Deno.args;
await using tree = await extractTree(commit);
await using server = await startPostgres();
const dataDir = await Deno.makeTempDir();
await using gateway = startProcess(
  { DATA_DIR: dataDir, DATABASE_URL: server.url, ADMIN_TOKEN, SIMULATE: "pace=0" },
  undefined,
  tree.folder,
);
await gateway.says(/listens on/);
const seen = await useGateway(gateway);
gateway.signal("SIGTERM");
await gateway.ended;
const made: EarlierRows = { commit: tree.commit, seen, rows: await readRows(server.url) };
const file = join(import.meta.dirname!, "rows.json");
await Deno.writeTextFile(file, `${JSON.stringify(made, null, 1)}\n`);
await Deno.remove(dataDir, { recursive: true });
