import assert from "node:assert/strict";
import { startFakeUpstream } from "../helpers/fake_upstream.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const configFor = (url: string) => `
service: { name: Priced, currency: EUR }
outbound: { allow_private: true }
providers:
  open: { adapter: openai, base_url: "${url}/v1", api_key: "\${KEY:-k}" }
  sim: { adapter: simulator, headers: { x-simulate: "seconds=0" } }
models:
  - id: draw
    name: Draw
    type: image
    capabilities: [text_to_image]
    limits: { sizes: [1024x1024, 1024x1536], qualities: [medium, low, high], max_count: 4 }
    upstreams:
      - { provider: open, model: gpt-image-1,
          cost: { price: "0.042", unit: image, variants: [{ when: { quality: high }, price: "0.167" }] } }
  - id: sketch
    name: Sketch
    type: image
    capabilities: [text_to_image]
    upstreams: [{ provider: sim, model: image }]
  - id: move
    name: Move
    type: video
    capabilities: [text_to_video]
    limits: { durations: [1, 2], resolutions: [720p, 1080p], aspect_ratios: ["16:9"] }
    upstreams: [{ provider: sim, model: video, cost: { price: "0.02", unit: second } }]
  - id: sing
    name: Sing
    type: video
    capabilities: [text_to_video, audio]
    limits: { durations: [1] }
    upstreams:
      - { provider: sim, model: video,
          cost: { price: "0.02", unit: second, variants: [{ when: { audio: true }, price: "0.04" }] } }
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: draw, billing_type: per_call, price: "0.05", unit: image,
          variants: [{ when: { quality: high }, price: "0.20" }, { when: { quality: low, size: [1024x1024] }, price: "0.02" }] }
      - { model: sketch, billing_type: per_call, price: "0.01", unit: image }
      - { model: move, billing_type: duration, price: "0.05", unit: second,
          variants: [{ when: { resolution: 1080p }, price: "0.12" }] }
      - { model: sing, billing_type: duration, price: "0.05", unit: second,
          variants: [{ when: { audio: true }, price: "0.09" }] }
`;

Deno.test(
  "the quality of an image reaches the provider and decides its price",
  STRICT,
  async () => {
    await using upstream = startFakeUpstream();
    upstream.answer({ status: 200, body: { data: [{ b64_json: PIXEL }, { b64_json: PIXEL }] } });
    await using gateway = await openMediaGateway({ config: configFor(upstream.url) });
    const make = async (more: Record<string, unknown>) => {
      const body = { model: "draw", prompt: "A tide", n: 2, ...more };
      const task = await gateway.ended((await gateway.submit("/v1/images/generations", body)).id);
      assert.equal(task.status, "succeeded", JSON.stringify(task.error));
      const sent = JSON.parse(upstream.seen.at(-1)!.body);
      const { settled, held, usage } = task.charge;
      return { settled, held, options: usage.options, quality: sent.quality };
    };
    assert.deepEqual(await make({}), {
      ...{ settled: "0.10", held: "0.10", quality: "medium" },
      options: { size: "1024x1024", quality: "medium" },
    });
    assert.deepEqual(await make({ quality: "high", size: "1024x1536" }), {
      ...{ settled: "0.40", held: "0.40", quality: "high" },
      options: { size: "1024x1536", quality: "high" },
    });
    const low = await make({ quality: "low" });
    assert.deepEqual([low.settled, low.quality], ["0.04", "low"]);
    const { sql } = gateway.gateway.database;
    const costs = await sql`select cost::float as cost from receipt order by created_at`;
    assert.deepEqual(costs.map(({ cost }) => cost), [0.084, 0.334, 0.084]);
    await gateway.verify();
  },
);

Deno.test("the resolution of a video decides its price", STRICT, async () => {
  await using gateway = await openMediaGateway({ config: configFor("http://127.0.0.1:9") });
  const body = { model: "move", prompt: "A tide", duration: 2, resolution: "1080p" };
  const task = await gateway.ended((await gateway.submit("/v1/videos/generations", body)).id);
  assert.equal(task.charge.settled, "0.24");
  assert.equal(task.charge.usage.options.resolution, "1080p");
  const plain = await gateway.submit("/v1/videos/generations", { ...body, resolution: undefined });
  assert.equal((await gateway.ended(plain.id)).charge.settled, "0.10");
});

Deno.test("the audio of a video decides its price and its cost", STRICT, async () => {
  await using gateway = await openMediaGateway({ config: configFor("http://127.0.0.1:9") });
  const make = async (audio?: boolean) => {
    const body = { model: "sing", prompt: "A tide", audio };
    const task = await gateway.ended((await gateway.submit("/v1/videos/generations", body)).id);
    return [task.charge.settled, task.charge.usage.options.audio];
  };
  assert.deepEqual(await make(true), ["0.09", true]);
  assert.deepEqual(await make(false), ["0.05", false]);
  assert.deepEqual(await make(), ["0.05", false]);
  const costs = await gateway.gateway.database
    .sql`select cost::float as cost from receipt order by created_at`;
  assert.deepEqual(costs.map(({ cost }) => cost), [0.04, 0.02, 0.02]);
  const res = await gateway.post("/v1/videos/generations", {
    ...{ model: "move", prompt: "A tide", duration: 1, audio: false },
  });
  const error = await errorOf(res);
  assert.deepEqual([res.status, error.code, error.param], [
    400,
    "capability_not_supported",
    "audio",
  ]);
});

Deno.test("400 for a quality or resolution that the model does not have", STRICT, async () => {
  await using gateway = await openMediaGateway({ config: configFor("http://127.0.0.1:9") });
  for (
    const [path, body, param] of [
      ["/v1/images/generations", { model: "draw", quality: "best" }, "quality"],
      ["/v1/images/generations", { model: "sketch", quality: "low" }, "quality"],
      ["/v1/videos/generations", { model: "move", resolution: "4k" }, "resolution"],
    ] as const
  ) {
    const res = await gateway.post(path, { prompt: "A tide", ...body });
    const error = await errorOf(res);
    assert.deepEqual([res.status, error.code, error.param], [400, "invalid_value", param]);
  }
});
