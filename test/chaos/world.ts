import { join } from "node:path";
import { DURABLE, type RunningPostgres, startPostgres } from "../../scripts/postgres.ts";
import { type GatewayProcess, startProcess } from "../helpers/gateway_process.ts";
import { ClientRecords } from "./client_records.ts";
import { chaosConfig } from "./config.ts";
import { extractTree } from "./earlier_tree.ts";
import { GatewayNode } from "./gateway_node.ts";
import type { ChaosOptions } from "./options.ts";
import { type Receivers, startReceivers } from "./receivers.ts";
import { TcpProxy } from "./tcp_proxy.ts";
import { freePort } from "../../scripts/free_port.ts";

const ADMIN_TOKEN = "chaos-admin-token-0123456789";
const CALL_TRIES = 60;
const wait = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

/** Everything of a run that is not load: processes, proxies, receivers, accounts. */
export interface World extends AsyncDisposable {
  readonly options: ChaosOptions;
  readonly dataDir: string;
  readonly nodes: readonly GatewayNode[];
  readonly postgres: RunningPostgres | null;
  readonly databaseProxy: TcpProxy | null;
  readonly upstreamProxy: TcpProxy;
  readonly receivers: Receivers;
  readonly clientRecords: ClientRecords;
  /** Past the proxies: what the upstream itself counted. */
  submissions(): Promise<Record<string, number>>;
  /** Asks any node that is up until one answers below 500. */
  call(path: string, key: string, options?: CallOptions): Promise<Answer>;
  admin(path: string, options?: CallOptions): Promise<Answer>;
  /** Credits an account, once; what stays unanswered is asked for again by `finishCredits`. */
  credit(account: number, cash: string): Promise<void>;
  finishCredits(): Promise<void>;
}

export interface CallOptions {
  method?: string;
  body?: unknown;
}

export interface Answer {
  status: number;
  // deno-lint-ignore no-explicit-any
  json: any;
  /** The node that answered. */
  address: string;
}

/** Much money twice, little money twice; the second of each has a webhook endpoint. */
const ACCOUNTS = [
  { cash: "5000", hasEndpoint: false },
  { cash: "5000", hasEndpoint: true },
  { cash: "0.3", hasEndpoint: false },
  { cash: "0.3", hasEndpoint: true },
];

export async function openWorld(options: ChaosOptions): Promise<World> {
  await using parts = new AsyncDisposableStack();
  const dataDir = await Deno.makeTempDir({ prefix: "tollgate-chaos-" });
  parts.defer(() => Deno.remove(dataDir, { recursive: true }));
  // Slow disks are no fault of this run's; what a crash must not lose still reaches the disk.
  const postgres = options.database === "postgres"
    ? parts.use(await startPostgres({ settings: DURABLE }))
    : null;
  const databaseProxy = postgres === null ? null : parts.use(new TcpProxy(postgres.port));
  const simulator = parts.use(startSimulator());
  await simulator.process.says(/http:/, 60);
  const upstreamProxy = parts.use(new TcpProxy(simulator.port));
  const receivers = parts.use(startReceivers(options.seed + 1));
  const config = join(dataDir, "gateway.yaml");
  const upstream = `http://127.0.0.1:${upstreamProxy.port}/v1`;
  await Deno.writeTextFile(config, chaosConfig({ upstream, database: options.database }));
  const earlier = options.upgradeFrom === null
    ? null
    : parts.use(await extractTree(options.upgradeFrom));
  if (earlier !== null) console.log(`upgrade from ${earlier.commit}`);
  const nodes = Array.from({ length: options.nodes }, (_, index) =>
    parts.use(
      new GatewayNode(`node ${index + 1}`, {
        HOST: "127.0.0.1",
        DATA_DIR: join(dataDir, "data"),
        GATEWAY_CONFIG: config,
        ADMIN_TOKEN,
        LOG_LEVEL: "warn",
        ...(databaseProxy === null
          ? {}
          : { DATABASE_URL: `postgres://postgres@127.0.0.1:${databaseProxy.port}/postgres` }),
      }, earlier?.folder),
    ));
  await Promise.all(nodes.map((node) => node.start()));

  let turn = 0;
  const call: World["call"] = async (path, key, { method = "GET", body } = {}) => {
    let last: unknown;
    for (let tries = 0; tries < CALL_TRIES; tries++) {
      const up = nodes.filter(({ state }) => state === "up");
      const node = up[turn++ % Math.max(1, up.length)] ?? nodes[0]!;
      try {
        const res = await fetch(node.address + path, {
          method,
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(20_000),
        });
        const json = await res.json();
        if (res.status < 500) return { status: res.status, json, address: node.address };
        last = JSON.stringify(json);
      } catch (error) {
        last = error;
      }
      await wait(500);
    }
    throw new Error(`${method} ${path} is not answered: ${last}`);
  };
  const admin: World["admin"] = (path, more) => call(`/admin/v1${path}`, ADMIN_TOKEN, more);
  const clientRecords = new ClientRecords();
  let references = 0;
  const unanswered = new Map<string, { index: number; cash: string }>();
  /** The same reference is booked once, however often it is repeated. */
  const book = async (reference: string, index: number, cash: string) => {
    const { id, credits } = clientRecords.accounts[index]!;
    const body = { kind: "cash", amount: cash, reference };
    const { status } = await admin(`/accounts/${id}/credits`, { method: "POST", body });
    unanswered.delete(reference);
    if (status < 300) credits.push(cash);
  };
  const credit: World["credit"] = async (index, cash) => {
    const reference = `credit-${++references}`;
    unanswered.set(reference, { index, cash });
    await book(reference, index, cash);
  };
  for (const [index, { cash, hasEndpoint }] of ACCOUNTS.entries()) {
    const post = { method: "POST" };
    const made = await admin("/accounts", { ...post, body: { name: `client ${index}` } });
    const { id } = made.json;
    const { key } = (await admin(`/accounts/${id}/keys`, { ...post, body: { name: "k" } })).json;
    clientRecords.accounts.push({ index, id, key, credits: [], hasEndpoint });
    await credit(index, cash);
    if (!hasEndpoint) continue;
    const url = `${receivers.url}/endpoint`;
    const { status, json } = await call("/v1/webhook_endpoints", key, { ...post, body: { url } });
    if (status >= 300) throw new Error(`Cannot make an endpoint: ${JSON.stringify(json)}`);
  }
  const closing = parts.move();
  return {
    options,
    dataDir,
    nodes,
    postgres,
    databaseProxy,
    upstreamProxy,
    receivers,
    clientRecords,
    async submissions() {
      const address = `http://127.0.0.1:${simulator.port}/_simulator/submissions`;
      return await (await fetch(address)).json();
    },
    call,
    admin,
    credit,
    async finishCredits() {
      for (const [reference, { index, cash }] of unanswered) await book(reference, index, cash);
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** The upstream, as a process of its own. */
function startSimulator(): AsyncDisposable & { port: number; process: GatewayProcess } {
  const port = freePort();
  const args = ["run", "-A", "--no-check", "providers/simulator/serve.ts", "--port", String(port)];
  const process = startProcess({}, args);
  return { port, process, [Symbol.asyncDispose]: () => process[Symbol.asyncDispose]() };
}
