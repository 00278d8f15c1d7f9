import assert from "node:assert/strict";
import { join } from "node:path";
import { type Json, until } from "../helpers/chat_gateway.ts";
import { callProcess } from "../helpers/call_process.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { startProcess } from "../helpers/gateway_process.ts";
import { heldConfig, startHeldUpstream } from "../helpers/held_upstream.ts";
import { freePort } from "../../scripts/free_port.ts";

const TOKEN = "0123456789abcdef";

Deno.test("a background response whose node is killed during the call is made by the next node, and paid for once", async () => {
  await using upstream = startHeldUpstream();
  await using store = await freshDatabase();
  const config = join(store.dataDir, "gateway.yaml");
  await Deno.writeTextFile(config, heldConfig(upstream.baseUrl));
  const env = {
    DATA_DIR: store.dataDir,
    DATABASE_URL: store.databaseUrl!,
    GATEWAY_CONFIG: config,
    ADMIN_TOKEN: TOKEN,
  };
  const start = async () => {
    const process = startProcess({ ...env, PORT: String(freePort()) });
    await process.says(/listens on/);
    return process;
  };
  let key: string;
  let id: string;
  {
    await using first = await start();
    const account = await callProcess(first, TOKEN, "/admin/v1/accounts", { name: "a" });
    const admin = `/admin/v1/accounts/${account.id}`;
    await callProcess(first, TOKEN, `${admin}/credits`, {
      kind: "cash",
      amount: "10",
      reference: "c",
    });
    key = (await callProcess(first, TOKEN, `${admin}/keys`, { name: "k" })).key;
    const body = { model: "talk", input: "Hello", background: true };
    id = (await callProcess(first, key, "/v1/responses", body)).id;
    await until("the upstream is called", () => upstream.held() === 1, 30);
    assert.equal((await callProcess(first, key, `/v1/responses/${id}`)).status, "in_progress");
    first.signal("SIGKILL");
    await first.ended;
  }

  await until("its connection is gone", () => upstream.held() === 0);
  upstream.letGo();
  await using second = await start();
  let response: Json;
  await until("it has ended", async () => {
    response = await callProcess(second, key, `/v1/responses/${id}`);
    return response.status !== "in_progress";
  }, 60);
  assert.deepEqual([response.status, response.output[0].content[0].text], [
    "completed",
    "Half whole",
  ]);
  assert.equal(upstream.calls(), 2);
  const request = id.replace("resp", "req");
  const { settled, usage } = await callProcess(second, key, `/v1/usage/${request}`);
  assert.deepEqual([settled, usage.input_tokens, usage.output_tokens], ["0.05", 10, 20]);
  await using database = await store.open();
  const [task] = await database.sql<{ attempts: Json[]; provider: string }[]>`
    select attempts, provider from task where request_id = ${request}`;
  assert.deepEqual(task!.attempts.map(({ provider, outcome }) => [provider, outcome]), [
    ["up", "cut"],
  ]);
  assert.equal(task!.provider, "up");
  const { ok, checks } = await callProcess(second, TOKEN, "/admin/v1/ledger/verify");
  assert.ok(ok, JSON.stringify(checks));
});
