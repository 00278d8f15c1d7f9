import { join } from "node:path";
import { postgresPid } from "./processor_time.ts";
import { DURABLE, startPostgres } from "../../scripts/postgres.ts";
import { freePort } from "../../scripts/free_port.ts";

const ROOT = new URL("../../", import.meta.url);
export const ADMIN_TOKEN = "bench-admin-token-0123456789";

export interface Process extends AsyncDisposable {
  address: string;
  pid: number;
  /** From the start of the process to its first good answer, in milliseconds. */
  startMs: number;
}

/** Starts a program that listens on `port`, and waits until it answers well at `path`. */
export async function startProgram(
  program: string,
  args: string[],
  { port, path, env = {} }: { port: number; path: string; env?: Record<string, string> },
): Promise<Process> {
  const from = performance.now();
  const child = new Deno.Command(program, {
    args,
    cwd: ROOT.pathname,
    env: { ...env, PORT: String(port) },
    stdout: "null",
    stderr: "null",
  }).spawn();
  let isOver = false;
  const ended = child.status.then(() => isOver = true);
  const address = `http://127.0.0.1:${port}`;
  while (true) {
    if (isOver || performance.now() - from > 60_000) {
      throw new Error(`${program} ${args.join(" ")} did not start`);
    }
    const response = await fetch(address + path).catch(() => null);
    await response?.body?.cancel();
    if (response?.ok) break;
    await new Promise((resume) => setTimeout(resume, 5));
  }
  return {
    address,
    pid: child.pid,
    startMs: performance.now() - from,
    async [Symbol.asyncDispose]() {
      if (!isOver) child.kill("SIGTERM");
      await ended;
    },
  };
}

function start(
  args: string[],
  port: number,
  path: string,
  env: Record<string, string>,
): Promise<Process> {
  return startProgram(Deno.execPath(), ["run", "-A", ...args], {
    port,
    path,
    env: { ...env, LOG_FORMAT: "json" },
  });
}

/** A gateway process on a real Postgres, logging as in production. */
export function startGateway(
  config: string,
  databaseUrl: string,
  dataDir: string,
  env: Record<string, string> = {},
): Promise<Process> {
  return start(["--v8-flags=--no-memory-reducer", "src/main.ts"], freePort(), "/readyz", {
    GATEWAY_CONFIG: config,
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    ADMIN_TOKEN,
    ...env,
  });
}

/** The least a Hono app can be: one route, the same bytes. */
export function startBare(body: string): Promise<Process> {
  return start([new URL("./bare_hono.ts", import.meta.url).pathname], freePort(), "/v1/models/x", {
    BODY: body,
  });
}

/** Postgres, a folder, and both gone at the end. */
export async function openGround(options: { durable?: boolean } = {}) {
  const postgres = await startPostgres(options.durable === true ? { settings: DURABLE } : {});
  const folder = await Deno.makeTempDir({ prefix: "tollgate-bench-" });
  return {
    databaseUrl: postgres.url,
    postgresPid: await postgresPid(postgres.folder),
    folder,
    dataDir: join(folder, "data"),
    async [Symbol.asyncDispose]() {
      await postgres.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

export async function admin<T>(
  gateway: Process,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const response = await fetch(`${gateway.address}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(await response.text());
  return await response.json();
}

/** An account and its key. */
export async function makeAccount(gateway: Process): Promise<{ account: string; key: string }> {
  const { id: account } = await admin<{ id: string }>(gateway, "POST", "/accounts", {
    name: "bench",
  });
  const { key } = await admin<{ key: string }>(gateway, "POST", `/accounts/${account}/keys`, {
    name: "bench",
  });
  return { account, key };
}

/** A configuration with so many models, and limits that do not get in the way. */
export function configOf(models: number): string {
  const lines = [
    "limits: { default: { requests_per_minute: 10000000 } }",
    "providers: { simulator: { adapter: simulator } }",
    "models:",
  ];
  for (let i = 0; i < models; i++) {
    lines.push(
      `  - id: model-${i}`,
      `    name: Model ${i}`,
      "    type: video",
      "    description: A model among many, with a description of an ordinary length.",
      "    advantages: [Quick, Steady]",
      "    scenarios: [Videos, Advertisements]",
      "    capabilities: [text_to_video, image_to_video]",
      '    limits: { durations: [5, 10], aspect_ratios: ["16:9", "9:16"], max_prompt_length: 2000 }',
      "    upstreams: [{ provider: simulator }]",
    );
  }
  lines.push("prices:", "  default:", "    effective_at: 2026-01-01T00:00:00Z", "    entries:");
  for (let i = 0; i < models; i++) {
    lines.push(
      `      - { model: model-${i}, billing_type: duration, price: "0.05", unit: second }`,
    );
  }
  return lines.join("\n") + "\n";
}
