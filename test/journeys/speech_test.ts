import assert from "node:assert/strict";
import { until } from "../helpers/chat_gateway.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

const TEXT = "Twenty characters ok";

Deno.test(
  "POST /v1/audio/speech answers with the audio, and it is paid for",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    for (
      const [format, type, start] of [
        [undefined, "audio/mpeg", null],
        ["mp3", "audio/mpeg", null],
        ["wav", "audio/wav", "RIFF"],
        ["pcm", "audio/pcm", null],
      ] as const
    ) {
      const res = await gateway.post("/v1/audio/speech", {
        model: "voice",
        input: TEXT,
        voice: "alma",
        ...(format === undefined ? {} : { response_format: format }),
      });
      assert.equal(res.status, 200, await res.clone().text());
      assert.equal(res.headers.get("content-type"), type);
      const bytes = await res.bytes();
      assert.ok(bytes.length > 1000);
      if (start !== null) assert.equal(new TextDecoder().decode(bytes.slice(0, 4)), start);
      const receipt = await (await gateway.get(`/v1/usage/${res.headers.get("x-request-id")}`))
        .json();
      assert.equal(receipt.settled, "0.01");
      assert.equal(receipt.usage.characters, 20);
    }
    assert.deepEqual(await gateway.balance(), { available: "0.96", frozen: "0.00" });
    await gateway.verify();
  },
);

Deno.test("speech by the second is paid by the duration of the audio", STRICT, async () => {
  await using gateway = await openMediaGateway();
  const res = await gateway.post("/v1/audio/speech", {
    model: "timed-voice",
    input: TEXT,
    voice: "alma",
    response_format: "pcm",
  });
  const seconds = (await res.bytes()).length / 48_000;
  const receipt = await (await gateway.get(`/v1/usage/${res.headers.get("x-request-id")}`)).json();
  assert.ok(Math.abs(Number(receipt.usage.seconds) - seconds) < 0.01, receipt.usage.seconds);
  assert.ok(Number(receipt.settled) < Number(receipt.held));
  const first = await gateway.post("/v1/audio/speech", {
    model: "timed-voice",
    input: TEXT,
    voice: "alma",
  });
  assert.equal(first.headers.get("content-type"), "audio/wav", "the model's first format");
  await first.body?.cancel();
});

Deno.test("400, 402 and 503 of /v1/audio/speech; a failure takes nothing", STRICT, async () => {
  await using gateway = await openMediaGateway({ cash: "0.02" });
  const good = { model: "voice", input: TEXT, voice: "alma" };
  for (
    const [change, code, param] of [
      [{ voice: "unknown" }, "invalid_value", "voice"],
      [{ voice: undefined }, "missing_field", "voice"],
      [{ input: "" }, "invalid_value", "input"],
      [{ input: "x".repeat(101) }, "prompt_too_long", "input"],
      [{ response_format: "ogg" }, "invalid_value", "response_format"],
      [{ speed: 0.2 }, "invalid_value", "speed"],
      [{ speed: 4.1 }, "invalid_value", "speed"],
      [{ model: "timed-voice", response_format: "mp3" }, "invalid_value", "response_format"],
      [{ model: "image-model" }, "capability_not_supported", "model"],
      [{ instructions: "softly" }, "unknown_field", "instructions"],
    ] as const
  ) {
    const res = await gateway.post("/v1/audio/speech", { ...good, ...change });
    assert.equal(res.status, 400, JSON.stringify(change));
    const error = await errorOf(res);
    assert.deepEqual([error.code, error.param], [code, param], JSON.stringify(change));
  }
  const poor = await gateway.post("/v1/audio/speech", { ...good, input: "x".repeat(100) });
  assert.equal(poor.status, 402);
  await poor.body?.cancel();
  const broken = await gateway.post("/v1/audio/speech", {
    ...good,
    input: "[[simulate: status=500]]",
  });
  assert.equal(broken.status, 503);
  assert.equal((await errorOf(broken)).code, "upstream_failed");
  assert.ok(broken.headers.get("retry-after"));
  assert.deepEqual(await gateway.balance(), { available: "0.02", frozen: "0.00" });
  await gateway.verify();
});

Deno.test("Prefer: respond-async makes speech a task", STRICT, async () => {
  await using gateway = await openMediaGateway();
  const task = await gateway.submit(
    "/v1/audio/speech",
    { model: "voice", input: TEXT, voice: "alma", response_format: "wav" },
    { prefer: "respond-async" },
  );
  assert.equal(task.type, "speech");
  const done = await gateway.ended(task.id);
  assert.equal(done.status, "succeeded", JSON.stringify(done));
  assert.equal(done.output[0].type, "audio");
  assert.deepEqual(done.usage, { total_units: 20 });
  assert.equal(done.charge.settled, "0.01");
  const pcm = await gateway.submit(
    "/v1/audio/speech",
    { model: "voice", input: TEXT, voice: "alma", response_format: "pcm" },
    { prefer: "respond-async, wait=30" },
  );
  assert.equal(pcm.status, "succeeded", JSON.stringify(pcm));
  await gateway.verify();
});

Deno.test(
  "speech with an Idempotency-Key is made and paid for once, with the same audio again",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    const ask = () =>
      gateway.post(
        "/v1/audio/speech",
        { model: "voice", input: TEXT, voice: "alma", response_format: "wav" },
        { "idempotency-key": "once" },
      );
    const answers = await Promise.all([ask(), ask(), ask()]);
    const bodies = await Promise.all(answers.map(async (res) => {
      assert.equal(res.status, 200, await res.clone().text());
      return await res.bytes();
    }));
    assert.deepEqual(bodies[0], bodies[1]);
    assert.deepEqual(bodies[0], bodies[2]);
    assert.equal(answers.filter((res) => res.headers.get("idempotent-replayed")).length, 2);
    assert.deepEqual(await gateway.balance(), { available: "0.99", frozen: "0.00" });
  },
);

Deno.test(
  "speech with an Idempotency-Key that came to nothing is made by the same request again",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    const name = crypto.randomUUID();
    const say = () =>
      gateway.post("/v1/audio/speech", {
        model: "voice",
        input: `[[simulate: status=400, fail=1, name=${name}]] hello`,
        voice: "alma",
      }, { "idempotency-key": "again" });
    const refused = await say();
    assert.equal(refused.status, 400, await refused.text());
    const spoken = await say();
    assert.equal(spoken.status, 200, await spoken.clone().text());
    assert.equal(spoken.headers.get("idempotent-replayed"), null);
    const audio = await spoken.bytes();
    const replayed = await say();
    assert.equal(replayed.headers.get("idempotent-replayed"), "true");
    assert.deepEqual(await replayed.bytes(), audio);
    assert.equal(await gateway.count("task"), 2);
    await gateway.verify();
  },
);

Deno.test(
  "speech without an Idempotency-Key is a task of the account, with its audio and its receipt",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    const res = await gateway.post("/v1/audio/speech", {
      model: "voice",
      input: TEXT,
      voice: "alma",
      response_format: "wav",
    });
    const audio = await res.bytes();
    assert.equal(res.headers.get("content-length"), String(audio.length));
    const requestId = res.headers.get("x-request-id");
    const { data: [task, ...more] } = await (await gateway.get("/v1/tasks?type=speech")).json();
    assert.deepEqual(more, []);
    assert.deepEqual([task.status, task.request_id], ["succeeded", requestId]);
    assert.deepEqual(task.charge, await (await gateway.get(`/v1/usage/${requestId}`)).json());
    const { data: [file] } = await (await gateway.get("/v1/files?purpose=output")).json();
    assert.equal(file.id, task.output[0].file_id);
    const content = await gateway.get(`/v1/files/${file.id}/content`);
    assert.deepEqual(await content.bytes(), audio);
  },
);

Deno.test(
  "speech whose client leaves is cancelled without an Idempotency-Key, and goes on with one",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    const leave = async (headers: Record<string, string>) => {
      const leaving = new AbortController();
      const asked = gateway.fetch("/v1/audio/speech", {
        method: "POST",
        signal: leaving.signal,
        headers: {
          authorization: `Bearer ${gateway.key}`,
          "content-type": "application/json",
          ...headers,
        },
        body: JSON.stringify({
          model: "voice",
          input: "[[simulate: latency=1s]] good morning to all",
          voice: "alma",
        }),
      });
      await until("it is accepted", async () => (await gateway.balance()).frozen !== "0.00");
      leaving.abort();
      await assert.rejects(asked);
      const { data: [task] } = await (await gateway.get("/v1/tasks")).json();
      return await gateway.ended(task.id);
    };
    const cancelled = await leave({});
    assert.deepEqual([cancelled.status, cancelled.charge.settled], ["cancelled", "0.00"]);
    assert.deepEqual(await gateway.balance(), { available: "1.00", frozen: "0.00" });
    const done = await leave({ "idempotency-key": "kept" });
    assert.deepEqual([done.status, done.charge.settled], ["succeeded", "0.022"]);
    await gateway.verify();
  },
);

Deno.test(
  "503 soon for speech whose upstreams all decline it: no second round while a client waits",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    const began = performance.now();
    const res = await gateway.post("/v1/audio/speech", {
      model: "voice",
      input: "[[simulate: status=401]] hello",
      voice: "alma",
    });
    assert.equal(res.status, 503);
    assert.equal((await errorOf(res)).code, "upstream_failed");
    assert.ok(performance.now() - began < 5_000);
    assert.deepEqual(await gateway.balance(), { available: "1.00", frozen: "0.00" });
  },
);

Deno.test(
  "who leaves before the audio is there is no error of ours, and pays nothing",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    const leaving = new AbortController();
    const asked = gateway.fetch("/v1/audio/speech", {
      method: "POST",
      signal: leaving.signal,
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "voice",
        input: "[[simulate: latency=60s]] hello",
        voice: "alma",
      }),
    });
    while ((await gateway.balance()).frozen === "0.00") {
      await new Promise((resume) => setTimeout(resume, 20));
    }
    leaving.abort();
    await assert.rejects(asked);
    while ((await gateway.balance()).frozen !== "0.00") {
      await new Promise((resume) => setTimeout(resume, 20));
    }
    while (!gateway.logged().includes("/v1/audio/speech")) {
      await new Promise((resume) => setTimeout(resume, 20));
    }
    assert.deepEqual(await gateway.balance(), { available: "1.00", frozen: "0.00" });
    assert.doesNotMatch(gateway.logged(), /internal_error|"level":"error"/);
    assert.match(gateway.logged(), /"path":"\/v1\/audio\/speech","status":499/);
  },
);

Deno.test(
  "503 at once for speech with an Idempotency-Key while the breaker is open, and the key is free",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    const say = (orders: string, key: string, prefer = "") =>
      gateway.post(
        "/v1/audio/speech",
        { model: "voice", input: `[[simulate: ${orders}]] hello`, voice: "alma" },
        { "idempotency-key": key, ...(prefer === "" ? {} : { prefer }) },
      );
    const began = performance.now();
    for (const [orders, key] of [["status=429, retry_after=40", "a"], ["seconds=0", "b"]]) {
      const res = await say(orders!, key!);
      assert.equal(res.status, 503);
      assert.ok(
        Number(res.headers.get("retry-after")) > 10,
        String(res.headers.get("retry-after")),
      );
      const error = await errorOf(res);
      assert.deepEqual([error.code, error.param], ["model_unavailable", "model"]);
    }
    assert.ok(performance.now() - began < 60_000, "not after the 120 s that speech may take");
    assert.equal(await gateway.count("idempotency"), 0);
    assert.deepEqual(await gateway.balance(), { available: "1.00", frozen: "0.00" });

    // A task waits for better times; the same request that wants the audio itself does not end it.
    const later = await say("seconds=0", "c", "respond-async");
    assert.equal(later.status, 202);
    const { id } = await later.json();
    const leaving = new AbortController();
    const waiting = gateway.fetch("/v1/audio/speech", {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.key}`,
        "content-type": "application/json",
        "idempotency-key": "c",
      },
      body: JSON.stringify({
        model: "voice",
        input: "[[simulate: seconds=0]] hello",
        voice: "alma",
      }),
      signal: leaving.signal,
    }).then(() => "answered", () => "left");
    await new Promise((resume) => setTimeout(resume, 2_500));
    leaving.abort();
    assert.equal(await waiting, "left");
    assert.equal((await gateway.task(id)).status, "queued");
    await (await gateway.post(`/v1/tasks/${id}/cancel`, {})).body?.cancel();
    await gateway.verify();
  },
);
