import { join } from "node:path";
import postgres from "postgres";
import { DURABLE, startPostgres } from "../../scripts/postgres.ts";
import { nodeConfig } from "../helpers/node_config.ts";
import { printTable, requestsPerSecond } from "./load.ts";
import { admin, ADMIN_TOKEN, makeAccount, type Process, startProgram } from "./servers.ts";
import { freePort } from "../../scripts/free_port.ts";

const SECONDS = 4;
const CONNECTIONS = 64;
const TASKS_SECONDS = 2;
/** As in a house with many customers: nodes then seldom want the same wallet. */
const ACCOUNTS = 64;
const TICKS_PER_SECOND = 100;

interface Figures {
  chats: number;
  tasks: number;
  /** Of the time that both used for the chats. */
  postgresShare: number;
  /** Cores that gateway and Postgres kept busy. */
  cores: number;
}

/** Chats and tasks with 1, 2 and 4 gateways on one port of this machine, each to a thread. */
export async function run(): Promise<void> {
  const table = [["gateways", "chats/s", "to one", "tasks/s", "to one", "Postgres", "cores busy"]];
  let one: Figures | undefined;
  for (const workers of [1, 2, 4]) {
    const seen = await measure(workers);
    one ??= seen;
    table.push([
      String(workers),
      seen.chats.toFixed(0),
      (seen.chats / one.chats).toFixed(2),
      seen.tasks.toFixed(0),
      (seen.tasks / one.tasks).toFixed(2),
      `${(seen.postgresShare * 100).toFixed(0)} %`,
      seen.cores.toFixed(2),
    ]);
  }
  console.log(
    `\n${navigator.hardwareConcurrency} cores, which also run Postgres (durable) and the load\n`,
  );
  printTable(table);
}

async function measure(workers: number): Promise<Figures> {
  await using parts = new AsyncDisposableStack();
  const server = parts.use(await startPostgres({ settings: DURABLE }));
  const folder = await Deno.makeTempDir({ prefix: "tollgate-bench-" });
  parts.defer(() => Deno.remove(folder, { recursive: true }));
  const config = join(folder, "gateway.yaml");
  await Deno.writeTextFile(
    config,
    nodeConfig("storage: { queue: postgres, sessions: postgres }"),
  );
  const gateway = parts.use(
    await startProgram(
      Deno.execPath(),
      ["run", "-A", "--v8-flags=--no-memory-reducer", "src/main.ts"],
      {
        port: freePort(),
        path: "/readyz",
        env: {
          WORKERS: String(workers),
          GATEWAY_CONFIG: config,
          DATABASE_URL: server.url,
          DATA_DIR: join(folder, "data"),
          ADMIN_TOKEN,
          LOG_FORMAT: "json",
        },
      },
    ),
  );
  // The first answers before all are there.
  await allReady(gateway, workers);
  const keys = await Promise.all(Array.from({ length: ACCOUNTS }, () => richAccount(gateway)));
  const headers = { "content-type": "application/json" };
  const chat = {
    url: `${gateway.address}/v1/chat/completions`,
    headers,
    keys,
    body: JSON.stringify({ model: "talk", messages: [{ role: "user", content: "hello" }] }),
    connections: CONNECTIONS,
  };
  // Each thread compiles for itself.
  await requestsPerSecond({ ...chat, seconds: 2 * workers });
  const before = { gateway: await ticksOf(gateway.pid), postgres: await ticksUnder(server.folder) };
  const chats = await requestsPerSecond({ ...chat, seconds: SECONDS });
  const after = { gateway: await ticksOf(gateway.pid), postgres: await ticksUnder(server.folder) };
  const used = {
    gateway: after.gateway - before.gateway,
    postgres: after.postgres - before.postgres,
  };
  await requestsPerSecond({
    url: `${gateway.address}/v1/images/generations`,
    headers,
    keys,
    body: JSON.stringify({ model: "image-model", prompt: "a toll gate" }),
    connections: 16,
    seconds: TASKS_SECONDS,
  });
  return {
    chats,
    tasks: await tasksPerSecond(server.url),
    postgresShare: used.postgres / (used.postgres + used.gateway),
    cores: (used.postgres + used.gateway) / TICKS_PER_SECOND / SECONDS,
  };
}

/** The key of an account with money. */
async function richAccount(gateway: Process): Promise<string> {
  const { account, key } = await makeAccount(gateway);
  await admin(gateway, "POST", `/accounts/${account}/credits`, {
    kind: "cash",
    amount: "100000",
    reference: "bench",
  });
  return key;
}

async function allReady(gateway: Process, workers: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 100) {
    const { nodes } = await admin<{ nodes: unknown[] }>(gateway, "GET", "/config");
    if (nodes.length === workers) return;
    await new Promise((resume) => setTimeout(resume, 100));
  }
  throw new Error(`${workers} gateways did not start`);
}

/** From the first that was accepted to the last that was done and paid. */
async function tasksPerSecond(databaseUrl: string): Promise<number> {
  const sql = postgres(databaseUrl, { max: 1 });
  try {
    while (true) {
      const [row] = await sql`
        select count(*)::int as n, count(*) filter (where completed_at is null)::int as open,
               extract(epoch from max(completed_at) - min(created_at))::float8 as seconds from task`;
      if (row!.open === 0) return row!.n / row!.seconds;
      await new Promise((resume) => setTimeout(resume, 100));
    }
  } finally {
    await sql.end();
  }
}

/** Processor time of a process, its threads included. */
async function ticksOf(pid: number | string): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => "");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

/** Of the server whose files are in this folder: itself, its children, and those it has outlived. */
async function ticksUnder(folder: string): Promise<number> {
  const [main] = (await Deno.readTextFile(await findPidFile(folder))).split("\n");
  let ticks = 0;
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await Deno.readTextFile(`/proc/${name}/stat`).catch(() => "");
    const parent = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
    if (parent === main || name === main) ticks += await ticksOf(name);
  }
  return ticks;
}

async function findPidFile(folder: string): Promise<string> {
  for (const path of [folder, join(folder, "data")]) {
    const file = join(path, "postmaster.pid");
    if (await Deno.stat(file).catch(() => null)) return file;
  }
  throw new Error(`no postmaster.pid in ${folder}`);
}
