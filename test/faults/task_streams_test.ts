import assert from "node:assert/strict";
import { createKey } from "../../src/domain/accounts/api_keys.ts";
import { eventsOf } from "../helpers/chat_gateway.ts";
import { type MediaGateway, openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

const submitImage = (gateway: MediaGateway, orders: string) =>
  gateway.submit("/v1/images/generations", {
    model: "image-model",
    prompt: `[[simulate: ${orders}]] a tide`,
  });
const pause = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

/** How often the table of tasks was looked at, as Postgres counts it. */
async function looks(gateway: MediaGateway): Promise<number> {
  // What a session has counted is added up a second later.
  await pause(1_500);
  const [row] = await gateway.gateway.database.sql<[{ scans: string }]>`
    select seq_scan + idx_scan as scans from pg_stat_user_tables where relname = 'task'`;
  return Number(row.scans);
}

Deno.test(
  "event streams of one node share their looks at the database, and all hear the end",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    const open = async (streams: number) => {
      const task = await submitImage(gateway, "seconds=4");
      const follow = () => gateway.get(`/v1/tasks/${task.id}/events`);
      const before = await looks(gateway);
      const events = await Promise.all(
        Array.from({ length: streams }, async () => await eventsOf(await follow())),
      );
      for (const each of events) assert.equal(each.at(-1).status, "succeeded");
      return await looks(gateway) - before;
    };
    const few = await open(1);
    const many = await open(20);
    // Each needs one look to begin with.
    assert.ok(many - few < 20 + 15, `${few} looks for one stream, ${many} for twenty`);
    await gateway.verify();
  },
);

Deno.test(
  "429 for event streams beyond 20 of a key and 100 of an account, until one is closed",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ taskWaits: { perKey: 2, perAccount: 3 } });
    const task = await submitImage(gateway, "seconds=60");
    const second = (await createKey(gateway.gateway.database.sql, gateway.account, "second")).key;
    const path = `/v1/tasks/${task.id}/events`;
    const leaving = [1, 2, 3].map(() => new AbortController());
    const follow = (key: string, signal?: AbortSignal) =>
      gateway.fetch(path, { headers: { authorization: `Bearer ${key}` }, signal });
    const refused = async (key: string) => {
      const res = await follow(key);
      assert.equal(res.status, 429);
      assert.ok(Number(res.headers.get("retry-after")) >= 1);
      assert.equal((await errorOf(res)).code, "concurrency_limit_exceeded");
    };
    const opened: Response[] = [];
    for (const [at, key] of [gateway.key, gateway.key, second].entries()) {
      const res = await follow(key, leaving[at]!.signal);
      opened.push(res);
      assert.equal(res.status, 200);
      if (at === 1) await refused(gateway.key);
    }
    await refused(second);
    // A preference to wait is one: the task is accepted and answered as it is.
    const soon = await gateway.post(
      "/v1/images/generations",
      { model: "image-model", prompt: "x" },
      {
        prefer: "wait=30",
      },
    );
    assert.equal(soon.status, 202);
    assert.equal(soon.headers.get("preference-applied"), null);
    await soon.body?.cancel();
    leaving[0]!.abort();
    let status = 429;
    for (let tries = 0; tries < 100 && status === 429; tries++) {
      const res = await follow(gateway.key, leaving[2]!.signal);
      status = res.status;
      if (status === 429) await res.body?.cancel();
      else opened.push(res);
      await pause(20);
    }
    assert.equal(status, 200, "a stream that was closed gives its place back");
    for (const each of leaving) each.abort();
    // The abort ends each body with an error.
    for (const res of opened) await assert.rejects(res.arrayBuffer());
  },
);

Deno.test(
  "429 for repeats of a speech request beyond those that may wait; the audio comes to the others, paid once",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00", taskWaits: { perKey: 1 } });
    const speak = () =>
      gateway.post("/v1/audio/speech", {
        model: "voice",
        input: "[[simulate: latency=3s]] good morning to all",
        voice: "alma",
      }, { "idempotency-key": "same" });
    const first = speak();
    while ((await gateway.balance()).frozen === "0.00") await pause(20);
    const repeats = await Promise.all([first, speak(), speak()]);
    assert.deepEqual(repeats.map(({ status }) => status).sort(), [200, 200, 429]);
    for (const response of repeats) await response.body?.cancel();
    // What is ready is not waited for.
    const ready = await Promise.all([speak(), speak(), speak()]);
    assert.deepEqual(ready.map(({ status }) => status), [200, 200, 200]);
    for (const response of ready) await response.body?.cancel();
    assert.deepEqual(await gateway.balance(), { available: "0.978", frozen: "0.00" });
  },
);
