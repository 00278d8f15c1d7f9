import assert from "node:assert/strict";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

const IMAGES = "/v1/images/generations";
const BODY = { model: "image-model", prompt: "a tide", n: 2 };

Deno.test(
  "the same key and body find the task that they made first, before and after its end",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    const key = { "idempotency-key": "!order~1" };
    const first = await gateway.post(IMAGES, BODY, key);
    assert.equal(first.headers.get("idempotent-replayed"), null);
    const task = await first.json();
    await gateway.ended(task.id);
    // Neither spaces nor the order of keys make another body.
    const again = await gateway.post(
      IMAGES,
      '{ "n": 2,\n "prompt": "a\\u0020tide", "model": "image-model" }',
      key,
    );
    assert.equal(again.status, 202);
    assert.equal(again.headers.get("idempotent-replayed"), "true");
    const replay = await again.json();
    assert.equal(replay.id, task.id);
    assert.equal(replay.request_id, task.request_id);
    assert.notEqual(replay.request_id, again.headers.get("x-request-id"));
    assert.equal(replay.status, "succeeded");
    assert.equal(await gateway.count("task"), 1);
    assert.deepEqual(await gateway.balance(), { available: "0.92", frozen: "0.00" });
  },
);

Deno.test(
  "400 idempotency_key_reused for another body or another path; another account's key is its own",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    const key = { "idempotency-key": "k" };
    await gateway.submit(IMAGES, BODY, key);
    for (
      const [path, body] of [
        [IMAGES, { ...BODY, n: 1 }],
        [IMAGES, { ...BODY, prompt: "another" }],
        ["/v1/videos/generations", { model: "video-model", prompt: "a tide" }],
      ] as const
    ) {
      const res = await gateway.post(path, body, key);
      assert.equal(res.status, 400);
      const error = await errorOf(res);
      assert.deepEqual([error.code, error.param], ["idempotency_key_reused", "Idempotency-Key"]);
    }
    const other = await gateway.newKey();
    const theirs = await gateway.post(IMAGES, { ...BODY, model: "sketch", n: 1 }, {
      ...key,
      authorization: `Bearer ${other.key}`,
    });
    assert.equal(theirs.status, 202);
    await theirs.body?.cancel();
    for (const bad of ["x".repeat(256), "a b", "\xfc"]) {
      const res = await gateway.post(IMAGES, BODY, { "idempotency-key": bad });
      assert.equal(res.status, 400, bad);
      assert.equal((await errorOf(res)).param, "Idempotency-Key");
    }
    assert.equal(await gateway.count("task"), 2);
  },
);

Deno.test("100 requests at once with one key make one task and hold once", STRICT, async () => {
  await using gateway = await openMediaGateway({ cash: "1.00" });
  // The embedded database has one node.
  await using beside = gateway.store.databaseUrl === undefined
    ? null
    : await openMediaGateway({ beside: gateway });
  const answers = await Promise.all(
    Array.from(
      { length: 100 },
      (_, at) =>
        (at % 2 === 0 ? gateway : beside ?? gateway)
          .post(IMAGES, BODY, { "idempotency-key": "one" }),
    ),
  );
  const tasks = await Promise.all(answers.map(async (res) => {
    assert.equal(res.status, 202, await res.clone().text());
    return await res.json();
  }));
  assert.equal(new Set(tasks.map(({ id }) => id)).size, 1);
  assert.equal(
    answers.filter((res) => res.headers.get("idempotent-replayed") === "true").length,
    99,
  );
  await gateway.ended(tasks[0].id);
  assert.equal(await gateway.count("task"), 1);
  assert.equal(await gateway.count("receipt"), 1);
  assert.deepEqual(await gateway.balance(), { available: "0.92", frozen: "0.00" });
  await gateway.verify();
});

Deno.test(
  "a refused request stores nothing: the key serves when the reason is gone",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "0.01" });
    const key = { "idempotency-key": "k" };
    const poor = await gateway.post(IMAGES, BODY, key);
    assert.equal(poor.status, 402);
    await poor.body?.cancel();
    assert.equal(await gateway.count("idempotency"), 0);
    await gateway.credit("1.00");
    const res = await gateway.post(IMAGES, BODY, key);
    assert.equal(res.status, 202);
    assert.equal(res.headers.get("idempotent-replayed"), null);
    await gateway.ended((await res.json()).id);
    await gateway.verify();
  },
);

Deno.test(
  "what was accepted stays accepted, though its file is gone and its key is a day past the end only then free",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    const { png } = await import("../helpers/media.ts");
    const file = await gateway.upload("a.png", png());
    const body = { model: "image-model", prompt: "x", input_images: [file] };
    const key = { "idempotency-key": "k" };
    const first = await gateway.submit(IMAGES, body, key);
    await gateway.ended(first.id);
    const gone = await gateway.fetch(`/v1/files/${file}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    assert.equal(gone.status, 200);
    await gone.body?.cancel();
    assert.equal((await gateway.submit(IMAGES, body, key)).id, first.id);
    const { sql } = gateway.gateway.database;
    const [kept] = await sql<[{ hours: number }]>`
    select extract(epoch from expires_at - now())::float8 / 3600 as hours from idempotency`;
    assert.ok(kept.hours > 23.9 && kept.hours <= 24, String(kept.hours));
    await sql`update idempotency set expires_at = now() - interval '1 second'`;
    const refused = await gateway.post(IMAGES, body, key);
    assert.equal(refused.status, 400);
    assert.equal((await errorOf(refused)).code, "file_not_found");
    const fresh = await gateway.submit(IMAGES, { model: "image-model", prompt: "y" }, key);
    assert.notEqual(fresh.id, first.id);
  },
);
