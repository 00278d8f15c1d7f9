import assert from "node:assert/strict";
import { join } from "node:path";
import { type Json, until } from "../helpers/chat_gateway.ts";
import { filePart, form, FORM_TYPE, PURPOSE } from "../helpers/form.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { crowdedMp4, endlessWebm } from "../helpers/hostile_media.ts";
import { type LoneGateway, startLoneGateway } from "../helpers/lone_gateway.ts";
import { oggOpus, png, wav } from "../helpers/media.ts";
import { watchHealth } from "../helpers/watch_health.ts";

/** As `npm start` runs it. */
const AS_STARTED = [
  "run",
  "--no-check",
  "--v8-flags=--no-memory-reducer",
  ...["net", "env", "read", "write", "sys", "run"].map((name) => `--allow-${name}`),
  "src/main.ts",
];

const CONFIG = `
service: { name: Probegate }
limits: { default: { requests_per_minute: 100000, running_tasks: 1000 } }
outbound: { allow_private: true }
storage: { queue: postgres }
providers:
  sim: { adapter: simulator, headers: { x-simulate: "seconds=0" } }
  videos: { adapter: ./videos.yaml }
models:
  - id: video-model
    name: Video
    type: video
    capabilities: [text_to_video]
    limits: { durations: [5] }
    upstreams: [{ provider: videos, model: m }]
  - id: talker
    name: Talker
    type: avatar
    capabilities: [audio_to_avatar]
    limits: { durations: [30] }
    upstreams: [{ provider: sim, model: avatar }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00+00:00
    entries:
      - { model: video-model, billing_type: duration, price: "0.10", unit: second }
      - { model: talker, billing_type: duration, price: "0.10", unit: second }
`;

/** A service that makes the same video for every request. */
function serveVideo(video: Uint8Array<ArrayBuffer>) {
  const server: Deno.HttpServer<Deno.NetAddr> = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      await request.body?.cancel();
      const { pathname } = new URL(request.url);
      if (pathname === "/video") return new Response(video);
      if (request.method === "POST") return Response.json({ id: "j1" });
      return Response.json({
        state: "done",
        files: [`http://127.0.0.1:${server.addr.port}/video`],
      });
    },
  );
  return {
    description: `
name: Videos
base_url: http://127.0.0.1:${server.addr.port}
media:
  video:
    polling: { first_seconds: 0.1, max_seconds: 0.5 }
    submit: { path: /jobs, body: { prompt: =prompt } }
    id: =id
    poll: { path: "/jobs/{id}" }
    state: { at: =state, running: working, succeeded: done, failed: broken }
    outputs: { url: =files }
`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function openProbed(env: Record<string, string> = {}) {
  await using opened = new AsyncDisposableStack();
  const store = opened.use(await freshDatabase());
  const videos = opened.use(serveVideo(endlessWebm()));
  await Deno.writeTextFile(join(store.dataDir, "videos.yaml"), videos.description);
  const gateway = opened.use(
    await startLoneGateway(store, { config: CONFIG, env, args: AS_STARTED }),
  );
  const parts = opened.move();
  return { gateway, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

async function upload(gateway: LoneGateway, key: string, file: Uint8Array): Promise<Json> {
  // Each on its own connection, so that threads share them.
  using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  const res = await fetch(`${gateway.address}/v1/files`, {
    client,
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": FORM_TYPE },
    body: form([PURPOSE, filePart(file, "file.bin")]),
    signal: AbortSignal.timeout(30_000),
  });
  const answer = await res.json();
  assert.equal(res.status, 200, JSON.stringify(answer));
  return answer;
}

/** Seconds that an avatar with this audio is quoted at: its length, or the longest where that is unknown. */
async function quotedSeconds(gateway: LoneGateway, key: string, audio: Json): Promise<number> {
  const avatar = await upload(gateway, key, png(64, 64));
  const body = { model: "talker", avatar_file_id: avatar.id, audio_file_id: audio.id };
  const res = await fetch(`${gateway.address}/v1/quotes`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ path: "/avatars/generations", body }),
  });
  const quote = await res.json();
  assert.equal(res.status, 200, JSON.stringify(quote));
  return Number(quote.usage.seconds);
}

async function finished(gateway: LoneGateway, key: string, path: string, body: Json) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const created = await fetch(`${gateway.address}/v1${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  const { id, ...rest } = await created.json();
  assert.equal(created.status, 202, JSON.stringify(rest));
  let task: Json;
  await until("the task is over", async () => {
    const signal = AbortSignal.timeout(10_000);
    task = await (await fetch(`${gateway.address}/v1/tasks/${id}`, { headers, signal })).json();
    return Boolean(task.completed_at);
  }, 40);
  const balance = await (await fetch(`${gateway.address}/v1/balance`, { headers })).json();
  return { task, balance };
}

Deno.test("uploads that make a parser loop or fill its memory are answered while /healthz answers at once", async () => {
  await using probed = await openProbed();
  const { gateway } = probed;
  const { key } = await gateway.account();
  const { key: other } = await gateway.account();
  // Loads what is loaded once.
  assert.equal(await quotedSeconds(gateway, other, await upload(gateway, other, wav(2))), 2);
  await using health = watchHealth(gateway.process);
  const hostile = [
    endlessWebm(),
    crowdedMp4(20_000_000),
    crowdedMp4(4_000_000_000, "M4A "),
  ];
  const uploads = Promise.all(hostile.map((file) => upload(gateway, key, file)));
  uploads.catch(() => {}); // told below
  const honest = await quotedSeconds(gateway, other, await upload(gateway, other, wav(3)));
  assert.equal(honest, 3, "another account's file is measured meanwhile");
  const [, , audio] = await uploads;
  assert.equal(await quotedSeconds(gateway, key, audio), 30, "unknown counts as the longest");
  const next = await quotedSeconds(gateway, key, await upload(gateway, key, wav(4)));
  assert.equal(next, 4, "the next file is measured");
  await health.assertLively();
});

Deno.test("WORKERS=2: eight endless uploads stop no thread", async () => {
  await using probed = await openProbed({ WORKERS: "2" });
  const { gateway } = probed;
  await using health = watchHealth(gateway.process);
  const accounts = await Promise.all(Array.from({ length: 8 }, () => gateway.account()));
  await Promise.all(accounts.map(({ key }) => upload(gateway, key, endlessWebm())));
  await health.assertLively();
  const { key } = accounts[0]!;
  assert.equal(await quotedSeconds(gateway, key, await upload(gateway, key, wav(1))), 1);
});

Deno.test("an upstream's endless video is stored and paid as asked for while /healthz answers at once", async () => {
  await using probed = await openProbed();
  const { gateway } = probed;
  const { key } = await gateway.account("10");
  await using health = watchHealth(gateway.process);
  const body = { model: "video-model", prompt: "a tide", duration: 5 };
  const { task, balance } = await finished(gateway, key, "/videos/generations", body);
  assert.equal(task.status, "succeeded", JSON.stringify(task));
  assert.equal(Number(balance.available_balance), 9.5);
  await health.assertLively();
});

Deno.test("audio of unknown length is paid at the model's longest, and stops no simulated avatar", async () => {
  await using probed = await openProbed();
  const { gateway } = probed;
  const { key } = await gateway.account("10");
  await using health = watchHealth(gateway.process);
  const avatar = await upload(gateway, key, png(64, 64));
  const audio = await upload(gateway, key, crowdedMp4(20_000_000, "M4A "));
  assert.equal(await quotedSeconds(gateway, key, audio), 30);
  const body = { model: "talker", avatar_file_id: avatar.id, audio_file_id: audio.id };
  const { task } = await finished(gateway, key, "/avatars/generations", body);
  assert.equal(task.status, "succeeded", JSON.stringify(task));
  await health.assertLively();
});

Deno.test("an Ogg file whose pages understate its time is quoted by what it plays", async () => {
  await using probed = await openProbed();
  const { gateway } = probed;
  const { key } = await gateway.account();
  for (const stated of [0.02, 0.001]) {
    const audio = await upload(gateway, key, oggOpus(500, { stated }));
    assert.equal(await quotedSeconds(gateway, key, audio), 10, `${stated}`);
  }
});
