import assert from "node:assert/strict";
import { join } from "node:path";
import type { Json } from "./chat_gateway.ts";
import type { FreshDatabase } from "./fresh_database.ts";
import { type GatewayProcess, startProcess } from "./gateway_process.ts";

const TOKEN = "0123456789abcdef";

/** A gateway in a process of its own, so that a test sees from outside whether it still answers. */
export interface LoneGateway extends AsyncDisposable {
  readonly process: GatewayProcess;
  readonly address: string;
  admin(method: string, path: string, body?: unknown): Promise<Json>;
  /** A new account with money, and its key. */
  account(cash?: string): Promise<{ id: string; key: string }>;
}

export async function startLoneGateway(
  store: FreshDatabase,
  { config, env = {}, args }: {
    config: string;
    env?: Record<string, string>;
    args?: string[];
  },
): Promise<LoneGateway> {
  const configFile = join(store.dataDir, "gateway.yaml");
  await Deno.writeTextFile(configFile, config);
  const process = startProcess({
    DATA_DIR: store.dataDir,
    GATEWAY_CONFIG: configFile,
    ADMIN_TOKEN: TOKEN,
    ...(store.databaseUrl === undefined ? {} : { DATABASE_URL: store.databaseUrl }),
    ...env,
  }, args);
  await process.says(/listens on/, 60);
  const admin = async (method: string, path: string, body?: unknown) => {
    const res = await fetch(`${process.address}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await res.json();
    assert.ok(res.ok, JSON.stringify(answer));
    return answer;
  };
  let credits = 0;
  return {
    process,
    address: process.address,
    admin,
    async account(amount = "100") {
      const { id } = await admin("POST", "/accounts", { name: "tester" });
      const reference = `c${credits++}`;
      await admin("POST", `/accounts/${id}/credits`, { kind: "cash", amount, reference });
      const { key } = await admin("POST", `/accounts/${id}/keys`, { name: "k" });
      return { id, key };
    },
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}
