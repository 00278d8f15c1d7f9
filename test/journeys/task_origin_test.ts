/** Whom a generation is for: `user` and `metadata`, from the request to the receipt, and no further. */
import assert from "node:assert/strict";
import { type Json, until } from "../helpers/chat_gateway.ts";
import { png, wav } from "../helpers/media.ts";
import { type MediaGateway, openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const ORIGIN = { user: "user-7", metadata: { team: "red", order: "17" } };
const DRAMAS = Deno.readTextFileSync(new URL("../helpers/drama_config.yaml", import.meta.url));
const SPEECH = { model: "voice", input: "Hello", voice: "alma" };

/** The request of each endpoint whose models make files. */
async function requestsOf(gateway: MediaGateway): Promise<[path: string, body: Json][]> {
  const avatar_file_id = await gateway.upload("face.png", png(64, 64));
  const audio_file_id = await gateway.upload("speech.wav", wav(1));
  return [
    ["/v1/images/generations", { model: "image-model", prompt: "a tide", size: "64x64" }],
    ["/v1/videos/generations", { model: "short-video", prompt: "a tide" }],
    ["/v1/avatars/generations", { model: "talker", avatar_file_id, audio_file_id }],
    ["/v1/audio/speech", SPEECH],
  ];
}

const originOf = ({ user, metadata }: Json) => ({ user, metadata });

/** The receipt of a request and its row in the request log. */
async function recordsOf(gateway: MediaGateway, requestId: string): Promise<Json[]> {
  const receipt = await gateway.get(`/v1/usage/${requestId}`);
  assert.equal(receipt.status, 200, await receipt.clone().text());
  let row: Json;
  await until("the row is written", async () => {
    const res = await gateway.get(`/v1/requests/${requestId}`);
    row = await res.json();
    return res.status === 200;
  });
  return [await receipt.json(), row];
}

async function usageBy(gateway: MediaGateway, groups: string): Promise<Json[]> {
  const res = await gateway.get(`/v1/usage?group_by=${groups}`);
  assert.equal(res.status, 200, await res.clone().text());
  return (await res.json()).data;
}

Deno.test(
  "images, videos, avatars and speech keep user and metadata: on the task, the receipt, in the log and in sums",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    const requests = await requestsOf(gateway);
    for (const [path, body] of requests) {
      const prefer = { prefer: "respond-async" };
      const task = await gateway.submit(path, { ...body, ...ORIGIN }, prefer);
      assert.deepEqual(originOf(task.charge), ORIGIN, path);
      const ended = await gateway.ended(task.id);
      assert.equal(ended.status, "succeeded", JSON.stringify(ended));
      assert.deepEqual(originOf(ended.charge), ORIGIN, path);
      for (const record of await recordsOf(gateway, task.charge.request_id)) {
        assert.deepEqual(originOf(record), ORIGIN, `${path}: ${record.object}`);
      }
      const bare = await gateway.submit(path, { ...body, user: null, metadata: null }, prefer);
      assert.deepEqual(originOf(bare.charge), { user: null, metadata: null }, path);
      await gateway.ended(bare.id);
    }
    const sums = await usageBy(gateway, "user,metadata.team");
    assert.deepEqual(
      sums.map(({ user, requests, ...usage }) => [user, usage["metadata.team"], requests]).sort(),
      [[null, null, requests.length], ["user-7", "red", requests.length]],
    );
    await gateway.verify();
  },
);

Deno.test("the receipt of awaited speech has user and metadata", STRICT, async () => {
  await using gateway = await openMediaGateway();
  const res = await gateway.post("/v1/audio/speech", { ...SPEECH, ...ORIGIN });
  assert.equal(res.status, 200, res.status === 200 ? "" : await res.text());
  await res.body?.cancel();
  for (const record of await recordsOf(gateway, res.headers.get("x-request-id")!)) {
    assert.deepEqual(originOf(record), ORIGIN, record.object);
  }
});

Deno.test("a drama's parts are all on one receipt with its user and metadata", STRICT, async () => {
  await using gateway = await openMediaGateway({ config: DRAMAS });
  const task = await gateway.submit("/v1/dramas/generations", {
    model: "play",
    title: "Tides",
    script: "Mara waits at the sea for Jon.",
    stage: "storyboard",
    business_id: "tides-1",
    ...ORIGIN,
  });
  const ended = await gateway.ended(task.id, 60);
  assert.equal(ended.status, "succeeded", JSON.stringify(ended));
  for (const record of await recordsOf(gateway, task.charge.request_id)) {
    assert.deepEqual(originOf(record), ORIGIN, record.object);
  }
  const [sum, ...others] = await usageBy(gateway, "user");
  assert.deepEqual([sum!.user, sum!.charged, others], ["user-7", ended.charge.settled, []]);
  await gateway.verify();
});

Deno.test(
  "as in chats, metadata is an object, of which what is too long is left out",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    for (const [path, body] of await requestsOf(gateway)) {
      for (const [name, value] of [["metadata", "red"], ["user", 7]] as const) {
        const res = await gateway.post(path, { ...body, [name]: value });
        const { code, param } = await errorOf(res);
        assert.deepEqual([res.status, code, param], [400, "invalid_value", name], path);
      }
    }
    const pairs = Array.from({ length: 20 }, (_, n) => [`name${n}`, "v"] as const);
    const { charge, id } = await gateway.submit("/v1/videos/generations", {
      model: "short-video",
      prompt: "a tide",
      user: "u".repeat(257),
      metadata: { long: "v".repeat(513), ...Object.fromEntries(pairs) },
    });
    assert.deepEqual(originOf(charge), {
      user: null,
      metadata: Object.fromEntries(pairs.slice(0, 16)),
    });
    await gateway.ended(id);
  },
);

Deno.test(
  "a repeat with other metadata is another body: 400 idempotency_key_reused",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    const key = { "idempotency-key": "order-1" };
    const body = { model: "image-model", prompt: "a tide", size: "64x64" };
    const path = "/v1/images/generations";
    const { id } = await gateway.submit(path, { ...body, ...ORIGIN }, key);
    assert.equal((await gateway.submit(path, { ...body, ...ORIGIN }, key)).id, id);
    const other = await gateway.post(path, { ...body, ...ORIGIN, metadata: { team: "blue" } }, key);
    assert.equal((await errorOf(other)).code, "idempotency_key_reused");
    await gateway.ended(id);
  },
);

Deno.test(
  "user and metadata of images and speech are not sent to the provider",
  STRICT,
  async () => {
    const sent: string[] = [];
    await using provider = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      async (request) => {
        sent.push([request.url, JSON.stringify([...request.headers]), await request.text()].join());
        return request.url.endsWith("/speech")
          ? new Response(wav(1), { headers: { "content-type": "audio/wav" } })
          : Response.json({ created: 1, data: [{ b64_json: png(4, 4).toBase64() }] });
      },
    );
    await using gateway = await openMediaGateway({
      config: `
outbound: { allow_private: true }
providers:
  p: { adapter: openai, base_url: "http://127.0.0.1:${provider.addr.port}/v1", api_key: "\${KEY}" }
models:
  - { id: m, name: M, type: image, capabilities: [text_to_image], upstreams: [{ provider: p, model: theirs }] }
  - id: voice
    name: Voice
    type: speech
    capabilities: [text_to_speech]
    limits: { voices: [alma], formats: [wav] }
    upstreams: [{ provider: p, model: theirs }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: m, billing_type: per_call, price: "0.05", unit: call }
      - { model: voice, billing_type: per_call, price: "0.05", unit: call }
`,
      environment: { KEY: "sk-of-ours" },
    });
    const image = { model: "m", prompt: "a tide", ...ORIGIN };
    const { id } = await gateway.submit("/v1/images/generations", image);
    assert.equal((await gateway.ended(id)).status, "succeeded");
    const speech = await gateway.post("/v1/audio/speech", { ...SPEECH, ...ORIGIN });
    assert.equal(speech.status, 200, speech.status === 200 ? "" : await speech.text());
    await speech.body?.cancel();
    assert.equal(sent.length, 2);
    assert.doesNotMatch(sent.join(), /user-7|metadata|"team"/);
  },
);
