import assert from "node:assert/strict";
import { join } from "node:path";
import { until } from "../helpers/chat_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { startProcess } from "../helpers/gateway_process.ts";

const CONFIG = new URL("../helpers/config.yaml", import.meta.url);
const ADMIN_TOKEN = "test-admin-token-0123456789";

async function writeConfig(dataDir: string, more: string): Promise<string> {
  const file = join(dataDir, "gateway.yaml");
  await Deno.writeTextFile(file, `${await Deno.readTextFile(CONFIG)}\n${more}\n`);
  return file;
}

Deno.test("WORKERS=2 serves one port with two nodes, and SIGTERM ends both with exit code 0", async () => {
  await using store = await freshDatabase();
  await using gateway = startProcess({
    WORKERS: "2",
    DATA_DIR: store.dataDir,
    DATABASE_URL: store.databaseUrl!,
    ADMIN_TOKEN,
    GATEWAY_CONFIG: await writeConfig(store.dataDir, "storage: { queue: postgres }"),
  });
  await gateway.says(/listens on/, 60);
  const nodes = new Set<string>();
  await until("both threads have answered", async () => {
    using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
    const res = await fetch(`${gateway.address}/admin/v1/config`, {
      client,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    assert.equal(res.status, 200);
    const config = await res.json();
    nodes.add(config.nodes.find(({ is_this }: { is_this: boolean }) => is_this).id);
    return nodes.size === 2 && config.nodes.length === 2;
  }, 30);
  const scrape = async () => {
    using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
    const res = await fetch(`${gateway.address}/metrics`, {
      client,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    assert.equal(res.status, 200);
    return await res.text();
  };
  for (let n = 0; n < 8; n++) {
    using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
    await (await fetch(`${gateway.address}/v1/models`, { client })).body?.cancel();
  }
  for (let n = 0; n < 6; n++) {
    const text = await scrape();
    assert.match(text, /^tollgate_api_errors_total\{code="missing_api_key"\} 8$/m);
    assert.match(text, /^tollgate_request_seconds_count\{route="\/models".*status="401"\} 8$/m);
    assert.match(text, /^tollgate_info\{version="[^"]+",config_version="[^"]+"\} 1$/m);
    assert.match(text, /^tollgate_tasks\{state="queued"\} 0$/m);
    assert.equal(text.match(/^# TYPE tollgate_memory_bytes /gm)?.length, 1);
  }
  gateway.signal("SIGTERM");
  assert.equal((await gateway.ended).code, 0, gateway.stderr());
});

Deno.test("WORKERS=2 is refused with a sentence where one process is all there can be", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "tollgate-process-" });
  await using gateway = startProcess({ WORKERS: "2", DATA_DIR: dataDir });
  assert.equal((await gateway.ended).code, 1);
  await gateway.says(/WORKERS needs a Postgres server[\s\S]*storage\.queue: postgres/);
  assert.doesNotMatch(gateway.stderr(), /\.ts:\d+/, "a sentence, not a stack");
  await gateway[Symbol.asyncDispose]();
  await Deno.remove(dataDir, { recursive: true });
});
