import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { until } from "../helpers/chat_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { type MediaGateway, openMediaGateway } from "../helpers/media_gateway.ts";
import {
  laterConfig,
  serveVideos,
  VIDEO_KEY,
  VIDEO_REQUEST,
  videoConfig,
  type VideoService,
} from "../helpers/video_service.ts";
import { statusOf } from "../helpers/status_of.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const ON_SERVER = { ...STRICT, ignore: Deno.env.get("TEST_STORE") === "embedded" };
/** More than a process keeps compiled. */
const RELOADS = 20;
const SHARED = "storage: { queue: postgres, sessions: postgres }";

type Options = Parameters<typeof openMediaGateway>[0];

const open = (videos: VideoService, options: Options = {}) =>
  openMediaGateway({
    config: videoConfig(),
    files: { "videos.yaml": videos.description },
    environment: { VIDEO_KEY },
    cash: "10.00",
    ...options,
  });

async function reload(gateway: MediaGateway, config: string): Promise<void> {
  await Deno.writeTextFile(gateway.configFile, config);
  const res = await gateway.admin("POST", "/config/reload");
  assert.equal(res.status, 200, await res.text());
}

/** A video that the service works on. */
async function startVideo(gateway: MediaGateway, videos: VideoService): Promise<string> {
  const before = videos.looks();
  const { id } = await gateway.submit("/v1/videos/generations", VIDEO_REQUEST);
  await until("the service is asked how far it is", () => videos.looks() > before);
  return id;
}

const versions = async ({ gateway: { database: { sql } } }: MediaGateway) =>
  await sql<{ version: string; source: string; files: Record<string, string> }[]>`
    select version, source, files from config_version order by created_at`;

Deno.test(
  "a video is finished at its price after many reloads without its model, its provider and the provider's file",
  STRICT,
  async () => {
    await using videos = serveVideos();
    await using gateway = await open(videos);
    const id = await startVideo(gateway, videos);
    await Deno.remove(join(dirname(gateway.configFile), "videos.yaml"));
    for (let n = 0; n < RELOADS; n++) await reload(gateway, laterConfig({ name: `Later${n}` }));
    const gone = await gateway.get("/v1/models/video-model");
    assert.equal(gone.status, 404, await gone.text());
    await reload(gateway, laterConfig({ price: "1.00" }));
    videos.finish();
    const task = await gateway.ended(id);
    assert.equal(task.status, "succeeded", JSON.stringify(task.error));
    assert.equal(task.charge.settled, "0.20");
    assert.deepEqual(videos.submissions, [id]);
    assert.deepEqual(await gateway.balance(), { available: "9.80", frozen: "0.00" });
    await gateway.verify();
  },
);

Deno.test(
  "a video is finished by another node that never had its model, its provider and the provider's file",
  ON_SERVER,
  async () => {
    await using videos = serveVideos();
    await using store = await freshDatabase();
    await using elsewhere = await freshDatabase();
    const first = await open(videos, { store, config: videoConfig({ storage: SHARED }) });
    await using closing = new AsyncDisposableStack();
    const stop = closing.use(first);
    // Nodes share their files, and nothing else.
    await Deno.symlink(`${store.dataDir}/files`, `${elsewhere.dataDir}/files`);
    await using second = await openMediaGateway({
      config: laterConfig({ storage: SHARED }),
      environment: { VIDEO_KEY },
      beside: { ...first, store: { ...store, dataDir: elsewhere.dataDir } },
    });
    const id = await startVideo(first, videos);
    await stop[Symbol.asyncDispose]();
    closing.move();
    const before = videos.looks();
    await until("the second node asks", () => videos.looks() > before, 30);
    videos.finish();
    const task = await second.ended(id);
    assert.equal(task.status, "succeeded", JSON.stringify(task.error));
    assert.equal(task.charge.settled, "0.20");
    assert.deepEqual(videos.submissions, [id]);
    assert.equal(videos.refused(), 0);
    await second.verify();
  },
);

Deno.test(
  "a stored configuration holds references to the environment and none of its values",
  STRICT,
  async () => {
    await using videos = serveVideos();
    await using gateway = await open(videos);
    const [stored, ...others] = await versions(gateway);
    assert.deepEqual(others, []);
    assert.ok(stored!.source.startsWith(videoConfig()), stored!.source);
    assert.deepEqual(stored!.files, { "./videos.yaml": videos.description });
    assert.match(stored!.source, /\$\{VIDEO_KEY\}/);
    assert.doesNotMatch(JSON.stringify(stored), new RegExp(VIDEO_KEY));
    // The same text with a changed provider file is another version.
    await Deno.writeTextFile(
      join(dirname(gateway.configFile), "videos.yaml"),
      videos.description.replace("0.2", "0.3"),
    );
    await reload(gateway, videoConfig());
    await until("both are stored", async () => (await versions(gateway)).length === 2);
  },
);

Deno.test(
  "a task whose provider has no key any more fails with a reason, and nothing is charged",
  STRICT,
  async () => {
    await using videos = serveVideos();
    await using store = await freshDatabase();
    const first = await open(videos, { store });
    const id = await startVideo(first, videos);
    await first[Symbol.asyncDispose]();
    await using second = await openMediaGateway({
      config: laterConfig(),
      store,
      beside: { ...first, store },
    });
    const task = await second.ended(id);
    assert.deepEqual([task.status, task.error.code], ["failed", "model_unavailable"]);
    assert.match(task.error.message, /can no longer reach/);
    assert.doesNotMatch(JSON.stringify(task), /canary|videos/);
    assert.equal(videos.refused(), 0, "nothing was sent without a key");
    assert.match(second.logged(), /no configuration with a key for its provider/);
    assert.deepEqual(await second.balance(), { available: "10.00", frozen: "0.00" });
    await second.verify();
  },
);

Deno.test(
  "a task goes on with the key that the configuration in force has for its provider",
  STRICT,
  async () => {
    await using videos = serveVideos();
    await using store = await freshDatabase();
    const first = await open(videos, { store });
    const id = await startVideo(first, videos);
    await first[Symbol.asyncDispose]();
    await using second = await openMediaGateway({
      config: videoConfig({ key: "NEW_KEY" }).replaceAll("video-model", "new-video"),
      files: { "videos.yaml": videos.description },
      environment: { NEW_KEY: VIDEO_KEY },
      beside: { ...first, store },
    });
    videos.finish();
    const task = await second.ended(id);
    assert.equal(task.status, "succeeded", JSON.stringify(task.error));
    assert.equal(task.charge.settled, "0.20");
    assert.deepEqual(await second.balance(), { available: "9.80", frozen: "0.00" });
  },
);

Deno.test(
  "a stored configuration that this build cannot read is replaced by the one in force, and logged once",
  STRICT,
  async () => {
    await using videos = serveVideos();
    await using store = await freshDatabase();
    const first = await open(videos, { store });
    const id = await startVideo(first, videos);
    await first.gateway.database.sql`update config_version set source = 'models: nonsense'`;
    await first[Symbol.asyncDispose]();
    await using second = await open(videos, {
      config: videoConfig({ name: "Newer" }),
      beside: { ...first, store },
    });
    const before = videos.looks();
    await until("it is asked for several times", () => videos.looks() > before + 3, 30);
    videos.finish();
    assert.equal(await statusOf(second.ended(id)), "succeeded");
    const told = second.logged().match(/config version of a task not usable/g);
    assert.equal(told?.length, 1);
  },
);

Deno.test(
  "versions that no task needs are removed; those of active tasks and the newest stay",
  STRICT,
  async () => {
    await using videos = serveVideos();
    await using gateway = await open(videos, {
      timing: { configs: { sweepMs: 50, keepNewest: 2, unusedSeconds: 0 } },
    });
    const [needed] = await versions(gateway);
    const id = await startVideo(gateway, videos);
    for (let n = 0; n < 6; n++) await reload(gateway, laterConfig({ name: `Later${n}` }));
    const names = async () =>
      (await versions(gateway)).map(({ source }) => /name: (\w+)/.exec(source)![1]);
    await until("three are left", async () => (await names()).length === 3);
    // A few more rounds of the sweeper.
    await new Promise((resume) => setTimeout(resume, 300));
    const kept = await names();
    assert.deepEqual([kept.length, kept[0], kept.at(-1)], [3, "Videos", "Later5"]);
    assert.equal((await versions(gateway))[0]!.version, needed!.version);
    videos.finish();
    assert.equal((await gateway.ended(id)).status, "succeeded");
    await until("no task needs the first", async () => (await names()).length === 2);
    assert.equal((await names()).includes("Videos"), false);
  },
);

Deno.test(
  "an operator's replay of a task keeps the provider that was removed since",
  STRICT,
  async () => {
    await using videos = serveVideos();
    await using gateway = await open(videos);
    const id = await startVideo(gateway, videos);
    await reload(gateway, laterConfig());
    const replayed = await gateway.admin("POST", `/tasks/${id}/replay`);
    assert.equal(replayed.status, 202, await replayed.text());
    videos.finish();
    const task = await gateway.ended(id);
    assert.equal(task.status, "succeeded", JSON.stringify(task.error));
    assert.equal(task.charge.settled, "0.20");
  },
);

Deno.test(
  "a configuration that could not be stored when it took over is stored before its first task",
  STRICT,
  async () => {
    await using videos = serveVideos();
    await using gateway = await open(videos);
    const { sql } = gateway.gateway.database;
    await sql`alter table config_version rename to config_version_away`;
    await reload(gateway, videoConfig({ name: "Second" }));
    await until("it is logged", () => /config version not stored/.test(gateway.logged()));
    const refused = await gateway.post("/v1/videos/generations", VIDEO_REQUEST);
    assert.equal(refused.status, 500, await refused.text());
    assert.deepEqual(await gateway.balance(), { available: "10.00", frozen: "0.00" });
    await sql`alter table config_version_away rename to config_version`;
    await startVideo(gateway, videos);
    const names = (await versions(gateway)).map(({ source }) => /name: (\w+)/.exec(source)![1]);
    assert.deepEqual(names, ["Videos", "Second"]);
  },
);
