import assert from "node:assert/strict";
import { join } from "node:path";
import { serveSimulator } from "../../providers/simulator/serve.ts";
import type { Json } from "../helpers/chat_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { type GatewayProcess, startProcess } from "../helpers/gateway_process.ts";
import { freePort } from "../../scripts/free_port.ts";

const CONFIG = Deno.readTextFileSync(
  new URL("../helpers/drama_config.yaml", import.meta.url),
);
const ADMIN = "admin-of-the-test";
const ON_SERVER = { ignore: Deno.env.get("TEST_STORE") === "embedded" };

/** Moments at which the process dies: each stage's beginning, and in the middle of shots. */
const MOMENTS: [name: string, isNow: (task: Json) => boolean][] = [
  ["before anything", ({ status }) => status === "queued" || status === "running"],
  ["while the script is written", ({ stage }) => stage === "script"],
  ["when the script is there", ({ stage }) => stage === "roles" || stage === "storyboard"],
  ["when the roles are there", ({ stage }) => stage === "storyboard" || stage === "video"],
  ["in the middle of images", ({ stages }) => stages[2].output.length > 0],
  ["when the images are there", ({ stage }) => stage === "video"],
  ["in the middle of videos", ({ stages }) => stages[3].output.length > 0],
  ["when the last video is there", ({ stages }) => stages[3].progress >= 80],
];

Deno.test(
  "a drama survives kill -9 at every stage, and nothing that is there is made again",
  ON_SERVER,
  async () => {
    await using store = await freshDatabase();
    await using simulator = serveSimulator({ defaults: "seconds=1 directives=off" });
    const config = join(store.dataDir, "gateway.yaml");
    await Deno.writeTextFile(
      config,
      CONFIG.replace(
        '{ x-simulate: "seconds=0" }',
        `{ x-simulate: "seconds=1" }\n    base_url: ${simulator.baseUrl}`,
      ),
    );
    const env = {
      GATEWAY_CONFIG: config,
      DATA_DIR: store.dataDir,
      DATABASE_URL: store.databaseUrl!,
      ADMIN_TOKEN: ADMIN,
    };
    let gateway = await start(env);
    try {
      const key = await makeAccount(gateway);
      const call = async (path: string, body?: unknown): Promise<Json> => {
        const res = await fetch(`${gateway.address}/v1${path}`, {
          method: body === undefined ? "GET" : "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        assert.ok(res.ok, `${res.status} ${await res.clone().text()}`);
        return await res.json();
      };
      const dramas: string[] = [];
      for (const [name, isNow] of MOMENTS) {
        const { id } = await call("/dramas/generations", {
          model: "play",
          title: name,
          script: "Mara waits at the sea for Jon.",
          characters: [{ name: "Mara" }],
          business_id: name.replaceAll(" ", "-"),
          callback_url: "http://127.0.0.1:9/hook",
        });
        await until(name, async () => isNow(await call(`/tasks/${id}`)));
        gateway.signal("SIGKILL");
        await gateway[Symbol.asyncDispose]();
        gateway = await start(env);
        dramas.push(id);
      }
      for (const id of dramas) {
        await until("end", async () => (await call(`/tasks/${id}`)).completed_at !== null, 120);
        const task = await call(`/tasks/${id}`);
        assert.equal(task.status, "succeeded", JSON.stringify(task));
        assert.equal(task.stages[2].output.length, 3);
        assert.equal(task.output.length, 1);
      }
      const twice = [...simulator.submissions].filter(([, count]) => count > 1);
      assert.deepEqual(twice, [], "jobs that were submitted twice");
      const verified = await (await fetch(`${gateway.address}/admin/v1/ledger/verify`, {
        headers: { authorization: `Bearer ${ADMIN}` },
      })).json();
      assert.ok(verified.ok, JSON.stringify(verified.checks));
    } finally {
      await gateway[Symbol.asyncDispose]();
    }
  },
);

async function start(env: Record<string, string>): Promise<GatewayProcess> {
  const gateway = startProcess({ ...env, PORT: String(freePort()) });
  await until("ready", async () => {
    const res = await fetch(`${gateway.address}/readyz`).catch(() => null);
    await res?.body?.cancel();
    return res?.status === 200;
  }, 60);
  return gateway;
}

async function makeAccount(gateway: GatewayProcess): Promise<string> {
  const admin = async (path: string, body: unknown) => {
    const res = await fetch(`${gateway.address}/admin/v1${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    assert.equal(res.status, 201, await res.clone().text());
    return await res.json();
  };
  const { id } = await admin("/accounts", { name: "killed" });
  await admin(`/accounts/${id}/credits`, { kind: "cash", amount: "1000", reference: "r" });
  return (await admin(`/accounts/${id}/keys`, { name: "k" })).key;
}

async function until(what: string, holds: () => Promise<boolean>, seconds = 60): Promise<void> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
    if (await holds()) return;
    await new Promise((resume) => setTimeout(resume, 40));
  }
  assert.fail(`never happened: ${what}`);
}
