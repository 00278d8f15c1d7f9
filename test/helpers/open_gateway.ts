import { join } from "node:path";
import { createAccount, type NewAccount } from "../../src/domain/accounts/accounts.ts";
import { createKey } from "../../src/domain/accounts/api_keys.ts";
import {
  type Gateway,
  type GatewayOptions,
  openGateway as open,
} from "../../src/app/open_gateway.ts";
import type { Settings } from "../../src/app/environment.ts";
import type { GatewayTiming } from "../../src/app/timing.ts";
import type { Simulator } from "../../providers/simulator/simulator.ts";
import type { Resolve } from "../../src/platform/outbound/resolve.ts";
import { openLog } from "../../src/platform/telemetry/log.ts";
import { type FreshDatabase, freshDatabase } from "./fresh_database.ts";

export const ADMIN_TOKEN = "test-admin-token-0123456789";

export interface TestGatewayOptions {
  /** The configuration; left out, the one in test/helpers/config.yaml. */
  config?: string;
  /** Files beside the configuration, by name. */
  files?: Record<string, string>;
  environment?: Record<string, string>;
  account?: NewAccount;
  /** A second node on the same database. */
  beside?: TestGateway;
  /** A database of the test's own; it disposes of it. */
  store?: FreshDatabase;
  /** Short times, so that a test need not wait for the usual ones. */
  timing?: GatewayTiming;
  /** Resolves hosts of images in chats; left out, every name leads to one public address. */
  resolve?: Resolve;
  simulator?: Simulator;
  taskWaits?: GatewayOptions["taskWaits"];
  /** Settings of the process that differ from the usual ones. */
  settings?: Partial<Settings>;
}

/** A real gateway on a port of its own, with an account and a key, and what it logged. */
export interface TestGateway extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly address: string;
  readonly key: string;
  readonly account: string;
  readonly configFile: string;
  readonly store: FreshDatabase;
  /** Everything logged so far. */
  logged(): string;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  admin(method: string, path: string, body?: unknown): Promise<Response>;
  newKey(account?: NewAccount): Promise<{ key: string; keyId: string; account: string }>;
}

const CONFIG = new URL("./config.yaml", import.meta.url);

export async function openGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  await using parts = new AsyncDisposableStack();
  const store = options.store ?? options.beside?.store ?? parts.use(await freshDatabase());
  const folder = await Deno.makeTempDir({ prefix: "tollgate-config-" });
  parts.defer(() => Deno.remove(folder, { recursive: true }));
  const configFile = join(folder, "gateway.yaml");
  await Deno.writeTextFile(
    configFile,
    onQueue(store, options.config ?? await Deno.readTextFile(CONFIG)),
  );
  for (const [name, text] of Object.entries(options.files ?? {})) {
    await Deno.writeTextFile(join(folder, name), text);
  }

  let logged = "";
  const log = openLog({ level: "debug", format: "json", write: (text) => logged += text });
  const gateway = parts.use(
    await open({
      host: "127.0.0.1",
      port: 0,
      configFile,
      dataDir: store.dataDir,
      databaseUrl: store.databaseUrl,
      databaseWaitSeconds: 10,
      adminToken: ADMIN_TOKEN,
      secretsKeys: [],
      metricsToken: undefined,
      isDrill: false,
      tracing: null,
      logLevel: "debug",
      logFormat: "json",
      workers: 1,
      watchdogSeconds: 0,
      onDeploy: false,
      ...options.settings,
      log,
      environment: options.environment ?? {},
      // A job that may have been accepted is not looked for as long as usual.
      timing: {
        tasks: { answeredSeconds: 0.5, unansweredSeconds: 1, lookupMs: 250 },
        passwords: { memoryKib: 64, passes: 1 },
        ...options.timing,
      },
      simulator: options.simulator,
      resolve: options.resolve ?? (() => Promise.resolve(["93.184.215.14"])),
      taskWaits: options.taskWaits,
    }),
  );
  const newKey = async (account: NewAccount = { name: "tester" }) => {
    const { id } = await createAccount(gateway.database.sql, account);
    const { key, id: keyId } = await createKey(gateway.database.sql, id, "test");
    return { key, keyId, account: id };
  };
  const { key, account } = options.beside ?? await newKey(options.account);
  const fetchPath = (path: string, init?: RequestInit) => fetch(gateway.address + path, init);
  const closing = parts.move();
  return {
    gateway,
    address: gateway.address,
    key,
    account,
    configFile,
    store,
    newKey,
    logged: () => (log.flush(), logged),
    fetch: fetchPath,
    get: (path, headers) =>
      fetchPath(path, { headers: { authorization: `Bearer ${key}`, ...headers } }),
    admin: (method, path, body) =>
      fetchPath(`/admin/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** With `TEST_QUEUE=postgres` every gateway on a server has its queue there, unless its configuration sets one. */
function onQueue({ databaseUrl }: FreshDatabase, config: string): string {
  const asked = Deno.env.get("TEST_QUEUE");
  if (asked !== "postgres" || databaseUrl === undefined || /^ +queue:/m.test(config)) {
    return config;
  }
  return /^storage:/m.test(config)
    ? config.replace(/^storage:\s*\n/m, "storage:\n  queue: postgres\n")
    : `${config}\nstorage: { queue: postgres }\n`;
}

/** The error of an answer, checked to have the one shape every error has. */
export async function errorOf(
  response: Response,
): Promise<{ message: string; type: string; param: string | null; code: string | null }> {
  const body = await response.json();
  if (body.request_id !== response.headers.get("x-request-id")) {
    throw new Error(`request_id is not x-request-id: ${JSON.stringify(body)}`);
  }
  return body.error;
}
