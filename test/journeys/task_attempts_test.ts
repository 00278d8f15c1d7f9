import assert from "node:assert/strict";
import type { Json } from "../helpers/chat_gateway.ts";
import { type MediaGateway, openMediaGateway } from "../helpers/media_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const CONFIG = `
service: { name: Mediagate, currency: EUR }
limits: { default: { requests_per_minute: 100000, running_tasks: 200 } }
outbound: { allow_private: true }
providers:
  busy: { adapter: simulator, headers: { x-simulate: "status=429" } }
  sim: { adapter: simulator, headers: { x-simulate: "seconds=0" } }
models:
  - id: image-model
    name: Image
    type: image
    capabilities: [text_to_image]
    limits: { sizes: [64x64] }
    upstreams:
      - { provider: busy, model: image, priority: 0 }
      - { provider: sim, model: image, priority: 1 }
prices:
  default:
    effective_at: 2026-01-01T00:00:00+00:00
    entries: [{ model: image-model, billing_type: per_call, price: "0.04", unit: image }]
`;

async function attemptsOf(gateway: MediaGateway, id: string): Promise<Json[]> {
  const res = await gateway.admin("GET", `/requests/${id}`);
  const { attempts } = await res.json();
  assert.equal(res.status, 200);
  return attempts;
}

const outcomes = (attempts: Json[]) =>
  attempts.map(({ provider, model, outcome }) => [provider, model, outcome]);

Deno.test(
  "operators see the upstreams that a task was sent to; its account does not",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ config: CONFIG });
    const { id, charge } = await gateway.submit("/v1/images/generations", {
      model: "image-model",
      prompt: "a tide",
    });
    assert.equal((await gateway.ended(id)).status, "succeeded");
    const attempts = await attemptsOf(gateway, charge.request_id);
    assert.deepEqual(outcomes(attempts), [
      ["busy", "image", "rate_limited"],
      ["sim", "image", "ok"],
    ]);
    assert.ok(
      attempts.every(({ duration_ms }) => Number.isInteger(duration_ms) && duration_ms >= 0),
    );
    const own = await (await gateway.get(`/v1/requests/${charge.request_id}`)).text();
    assert.ok(!own.includes("attempts") && !own.includes("busy"), own);
  },
);

Deno.test("the last attempt of a task shows what became of it", STRICT, async () => {
  await using gateway = await openMediaGateway({ config: CONFIG });
  const failed = await gateway.submit("/v1/images/generations", {
    model: "image-model",
    prompt: "a tide [[simulate: output=garbage]]",
  });
  assert.equal((await gateway.ended(failed.id)).status, "failed");
  const attempts = await attemptsOf(gateway, failed.charge.request_id);
  assert.deepEqual(outcomes(attempts).at(-1), ["sim", "image", "failed"]);
});

const DRAMA = Deno.readTextFileSync(new URL("../helpers/drama_config.yaml", import.meta.url))
  .replace(
    "providers:",
    'providers:\n  busy: { adapter: simulator, headers: { x-simulate: "status=429" } }',
  )
  .replace(
    "{\n          provider: canary-provider,\n          model: chat,",
    "{ provider: busy, model: chat }, { priority: 1, provider: canary-provider, model: chat,",
  );

Deno.test("operators see the upstreams that were asked for a text of a drama", STRICT, async () => {
  await using gateway = await openMediaGateway({ config: DRAMA, cash: "100" });
  const { id, charge } = await gateway.submit("/v1/dramas/generations", {
    model: "play",
    title: "Tides",
    script: "Mara waits at the sea for Jon.",
    characters: [{ name: "Mara" }],
    business_id: "tides",
    stage: "script",
  });
  assert.equal((await gateway.ended(id)).status, "succeeded");
  assert.deepEqual(outcomes(await attemptsOf(gateway, charge.request_id)), [
    ["busy", "chat", "rate_limited"],
    ["canary-provider", "chat", "ok"],
  ]);
  const { data } = await (await gateway.admin("GET", "/upstreams")).json();
  const counts = data.filter(({ attempts }: Json) => attempts > 0)
    .map(({ provider, outcomes }: Json) => [provider, outcomes]);
  assert.deepEqual(counts, [["busy", { rate_limited: 1 }], ["canary-provider", { ok: 1 }]]);
});
