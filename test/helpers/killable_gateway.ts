import assert from "node:assert/strict";
import { join } from "node:path";
import type { Json } from "./chat_gateway.ts";
import type { FreshDatabase } from "./fresh_database.ts";
import { type GatewayProcess, startProcess } from "./gateway_process.ts";
import { openStudio, type Studio, studioConfig } from "./studio.ts";
import { freePort } from "../../scripts/free_port.ts";

const TOKEN = "0123456789abcdef";

/** A gateway as a process that may be killed and started again, with a studio that outlives it. */
export interface Killable extends AsyncDisposable {
  readonly studio: Studio;
  readonly process: () => GatewayProcess;
  start(): Promise<void>;
  /** kill −9, and it is gone. */
  kill(): Promise<void>;
  admin(method: string, path: string, body?: unknown): Promise<Json>;
  /** An account with money, and its key. */
  account(cash?: string): Promise<{ id: string; key: string }>;
  post(
    key: string,
    body: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<Response>;
  submit(
    key: string,
    body: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<Json>;
  task(key: string, id: string): Promise<Json>;
  ended(key: string, id: string, seconds?: number): Promise<Json>;
  verify(): Promise<void>;
}

export async function openKillable(
  store: FreshDatabase,
  env: Record<string, string> = {},
): Promise<Killable> {
  const studio = openStudio();
  const config = join(store.dataDir, "gateway.yaml");
  await Deno.writeTextFile(config, studioConfig());
  for (const [name, canFind] of [["studio", true], ["blind", false]] as const) {
    await Deno.writeTextFile(join(store.dataDir, `${name}.yaml`), studio.describe({ canFind }));
  }
  let running: GatewayProcess | null = null;
  let credits = 0;
  const current = () => {
    assert.ok(running !== null, "the gateway runs");
    return running;
  };
  const admin = async (method: string, path: string, body?: unknown) => {
    const res = await fetch(`${current().address}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await res.json();
    assert.ok(res.ok, JSON.stringify(answer));
    return answer;
  };
  const post: Killable["post"] = (key, body, headers = {}) =>
    fetch(`${current().address}/v1/images/generations`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        ...headers,
      },
      body: JSON.stringify({ model: "studio", prompt: "x", ...body }),
    });
  const task: Killable["task"] = async (key, id) => {
    const res = await fetch(`${current().address}/v1/tasks/${id}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return await res.json();
  };
  return {
    studio,
    process: current,
    async start() {
      running = startProcess({
        DATA_DIR: store.dataDir,
        GATEWAY_CONFIG: config,
        ADMIN_TOKEN: TOKEN,
        PORT: String(freePort()),
        ...(store.databaseUrl === undefined ? {} : { DATABASE_URL: store.databaseUrl }),
        ...env,
      });
      for (let tries = 0;; tries++) {
        const res = await fetch(`${running.address}/readyz`).catch(() => null);
        await res?.body?.cancel();
        if (res?.status === 200) return;
        assert.ok(tries < 600, `never ready:\n${running.stdout()}\n${running.stderr()}`);
        await new Promise((resume) => setTimeout(resume, 50));
      }
    },
    async kill() {
      current().signal("SIGKILL");
      await current()[Symbol.asyncDispose]();
      running = null;
    },
    admin,
    async account(cash = "10.00") {
      const { id } = await admin("POST", "/accounts", { name: "killable" });
      await admin("POST", `/accounts/${id}/credits`, {
        kind: "cash",
        amount: cash,
        reference: `c${credits++}`,
      });
      const { key } = await admin("POST", `/accounts/${id}/keys`, { name: "k" });
      return { id, key };
    },
    post,
    async submit(key, body, headers) {
      const res = await post(key, body, headers);
      const answer = await res.json();
      assert.equal(res.status, 202, JSON.stringify(answer));
      return answer;
    },
    task,
    async ended(key, id, seconds = 60) {
      for (const until = Date.now() + seconds * 1000; Date.now() < until;) {
        const seen = await task(key, id);
        if (seen.completed_at) return seen;
        await new Promise((resume) => setTimeout(resume, 100));
      }
      assert.fail(`never ended: ${JSON.stringify(await task(key, id))}\n${current().stderr()}`);
    },
    async verify() {
      const { ok, checks } = await admin("GET", "/ledger/verify");
      assert.ok(ok, JSON.stringify(checks));
    },
    async [Symbol.asyncDispose]() {
      await running?.[Symbol.asyncDispose]();
      await studio[Symbol.asyncDispose]();
    },
  };
}
