import assert from "node:assert/strict";
import { join } from "node:path";
import type { Json } from "./chat_gateway.ts";
import { type GatewayProcess, startProcess } from "./gateway_process.ts";
import { freePort } from "../../scripts/free_port.ts";

const TOKEN = "0123456789abcdef";
const CONFIG = new URL("./chat_config.yaml", import.meta.url);

/** A chat gateway as a process that may be paused, stopped and started again. */
export interface ChatProcess extends AsyncDisposable {
  readonly process: GatewayProcess;
  /** An account with money, and its key. */
  account(cash: string): Promise<{ id: string; key: string }>;
  stream(key: string, model: string, content: string): Promise<Response>;
  get(key: string, path: string): Promise<Json>;
  verify(): Promise<void>;
}

export async function startChatProcess(
  dataDir: string,
  databaseUrl: string,
): Promise<ChatProcess> {
  const configFile = join(dataDir, "chat.yaml");
  const config = await Deno.readTextFile(CONFIG);
  await Deno.writeTextFile(
    configFile,
    `${config}\nstorage: { queue: postgres, sessions: postgres }\n`,
  );
  const process = startProcess({
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    GATEWAY_CONFIG: configFile,
    ADMIN_TOKEN: TOKEN,
    PORT: String(freePort()),
  });
  await process.says(/listens on/, 60);
  const call = async (path: string, token: string, method = "GET", body?: unknown) => {
    const res = await fetch(process.address + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await res.json();
    assert.ok(res.ok, JSON.stringify(answer));
    return answer;
  };
  return {
    process,
    async account(cash) {
      const { id } = await call("/admin/v1/accounts", TOKEN, "POST", { name: "a" });
      const credit = { kind: "cash", amount: cash, reference: "start" };
      await call(`/admin/v1/accounts/${id}/credits`, TOKEN, "POST", credit);
      const { key } = await call(`/admin/v1/accounts/${id}/keys`, TOKEN, "POST", { name: "k" });
      return { id, key };
    },
    stream: (key, model, content) =>
      fetch(`${process.address}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({
          model,
          stream: true,
          stream_options: { include_usage: true },
          messages: [{ role: "user", content }],
        }),
      }),
    get: (key, path) => call(path, key),
    async verify() {
      const { ok, checks } = await call("/admin/v1/ledger/verify", TOKEN);
      assert.ok(ok, JSON.stringify(checks));
    },
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}
