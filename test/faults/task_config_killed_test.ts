import assert from "node:assert/strict";
import { join } from "node:path";
import { serveSimulator } from "../../providers/simulator/serve.ts";
import { sleep } from "../../src/lib/timers.ts";
import { type Json, until } from "../helpers/chat_gateway.ts";
import { callProcess } from "../helpers/call_process.ts";
import { type FreshDatabase, freshDatabase } from "../helpers/fresh_database.ts";
import { type GatewayProcess, startProcess } from "../helpers/gateway_process.ts";
import {
  laterConfig,
  serveVideos,
  VIDEO_KEY,
  VIDEO_REQUEST,
  videoConfig,
} from "../helpers/video_service.ts";
import { freePort } from "../../scripts/free_port.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const ADMIN = "0123456789abcdef";
const DRAMAS = Deno.readTextFileSync(
  new URL("../helpers/drama_config.yaml", import.meta.url),
);

/** A gateway process with an account; `restart` kills it (-9) and starts it with another file. */
async function openProcess(store: FreshDatabase, config: string, files: Record<string, string>) {
  const file = join(store.dataDir, "gateway.yaml");
  await Deno.writeTextFile(file, config);
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(join(store.dataDir, name), text);
  }
  const start = async () => {
    const started = startProcess({
      GATEWAY_CONFIG: file,
      DATA_DIR: store.dataDir,
      ADMIN_TOKEN: ADMIN,
      PORT: String(freePort()),
      VIDEO_KEY,
      ...(store.databaseUrl === undefined ? {} : { DATABASE_URL: store.databaseUrl }),
    });
    await until("ready", async () => {
      const res = await fetch(`${started.address}/readyz`).catch(() => null);
      await res?.body?.cancel();
      return res?.status === 200;
    }, 60);
    return started;
  };
  let running: GatewayProcess = await start();
  const call = (token: string, path: string, body?: unknown) =>
    callProcess(running, token, path, body);
  const admin = (path: string, body?: unknown) => call(ADMIN, `/admin/v1${path}`, body);
  const { id } = await admin("/accounts", { name: "killed" });
  await admin(`/accounts/${id}/credits`, { kind: "cash", amount: "100", reference: "r" });
  const { key } = await admin(`/accounts/${id}/keys`, { name: "k" });
  return {
    call: (path: string, body?: unknown) => call(key, path, body),
    async restart(next: string) {
      running.signal("SIGKILL");
      await running[Symbol.asyncDispose]();
      await Deno.writeTextFile(file, next);
      for (const name of Object.keys(files)) await Deno.remove(join(store.dataDir, name));
      running = await start();
    },
    async ended(id: string, seconds = 60): Promise<Json> {
      let task: Json = null;
      await until("the task is over", async () => {
        // Below the usual rate of 600 a minute.
        await sleep(150);
        task = await call(key, `/v1/tasks/${id}`);
        return task.completed_at !== null;
      }, seconds);
      return task;
    },
    async verify() {
      const { ok, checks } = await admin("/ledger/verify");
      assert.ok(ok, JSON.stringify(checks));
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

Deno.test(
  "a video outlives kill -9 and a start without its model, its provider and the provider's file",
  STRICT,
  async () => {
    await using store = await freshDatabase();
    await using videos = serveVideos();
    await using gateway = await openProcess(store, videoConfig(), {
      "videos.yaml": videos.description,
    });
    const { id } = await gateway.call("/v1/videos/generations", VIDEO_REQUEST);
    await until("the service works on it", () => videos.looks() > 0);
    await gateway.restart(laterConfig({ price: "1.00" }));
    videos.finish();
    const task = await gateway.ended(id);
    assert.equal(task.status, "succeeded", JSON.stringify(task.error));
    assert.equal(task.charge.settled, "0.20");
    assert.deepEqual(videos.submissions, [id]);
    await gateway.verify();
  },
);

Deno.test(
  "a cancellation reaches the provider though it was removed before a restart",
  STRICT,
  async () => {
    await using store = await freshDatabase();
    await using videos = serveVideos();
    await using gateway = await openProcess(store, videoConfig(), {
      "videos.yaml": videos.description,
    });
    const { id } = await gateway.call("/v1/videos/generations", VIDEO_REQUEST);
    await until("the service works on it", () => videos.looks() > 0);
    await gateway.restart(laterConfig());
    await gateway.call(`/v1/tasks/${id}/cancel`, {});
    const task = await gateway.ended(id);
    assert.deepEqual([task.status, videos.cancelled], ["cancelled", ["v1"]]);
    const { available_balance, frozen_balance } = await gateway.call("/v1/balance");
    assert.deepEqual([available_balance, frozen_balance], ["100.00", "0.00"]);
    await gateway.verify();
  },
);

Deno.test(
  "a drama outlives kill -9 and a start without the models of its chain",
  STRICT,
  async () => {
    await using store = await freshDatabase();
    await using simulator = serveSimulator({ defaults: "seconds=1 directives=off" });
    const before = DRAMAS.replace(
      '{ x-simulate: "seconds=0" }',
      `{ x-simulate: "seconds=1" }\n    base_url: ${simulator.baseUrl}`,
    );
    await using gateway = await openProcess(store, before, {});
    const { id } = await gateway.call("/v1/dramas/generations", {
      model: "play",
      title: "Tides",
      script: "Mara waits at the sea for Jon.",
      characters: [{ name: "Mara" }],
      business_id: "kept",
      callback_url: "http://127.0.0.1:9/hook",
    });
    await until("it has begun", async () => {
      const { stage } = await gateway.call(`/v1/tasks/${id}`);
      return stage === "storyboard" || stage === "video";
    }, 60);
    await gateway.restart(laterConfig());
    const task = await gateway.ended(id, 120);
    assert.equal(task.status, "succeeded", JSON.stringify(task.error));
    assert.equal(task.output.length, 1);
    await gateway.verify();
  },
);
