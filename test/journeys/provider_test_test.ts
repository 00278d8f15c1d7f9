import assert from "node:assert/strict";
import { errorOf, openGateway } from "../helpers/open_gateway.ts";
import { startFakeUpstream } from "../helpers/fake_upstream.ts";

const configFor = (address: string) => `
providers:
  alpha: { adapter: openai_compatible, base_url: "${address}/v1", api_key: "\${KEY:-sk-alpha-key-0123456789}" }
  idle: { adapter: openai_compatible, base_url: "${address}/v1", api_key: "\${NONE:-}" }
  images: { adapter: simulator }
  vectors: { adapter: simulator }
models:
  - { id: talk, name: Talk, type: chat, capabilities: [chat], upstreams: [{ provider: alpha, model: a1 }] }
  - { id: embed, name: Embed, type: embedding, capabilities: [embeddings], upstreams: [{ provider: alpha, model: e1 }, { provider: vectors, model: embedding }] }
  - { id: draw, name: Draw, type: image, capabilities: [text_to_image], limits: { sizes: [64x64] }, upstreams: [{ provider: images, model: i1 }] }
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: talk, billing_type: per_call, price: "0.01", unit: call }
      - { model: embed, billing_type: token, input_price: "0.01", unit: 1M tokens }
      - { model: draw, billing_type: per_call, price: "0.01", unit: image }
`;

Deno.test("200 with what a provider answered, and with its own words when it refuses our key", async () => {
  await using upstream = startFakeUpstream();
  await using gateway = await openGateway({ config: configFor(upstream.url) });
  upstream.answer({
    status: 200,
    body: {
      choices: [{ index: 0, message: { role: "assistant", content: "OK" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 6, completion_tokens: 1, total_tokens: 7 },
    },
  });
  const tested = await gateway.admin("POST", "/providers/alpha/test", {});
  assert.equal(tested.status, 200);
  const { duration_ms, ...result } = await tested.json();
  assert.ok(Number.isInteger(duration_ms));
  assert.deepEqual(result, {
    object: "provider_test",
    provider: "alpha",
    model: "talk",
    upstream_model: "a1",
    ok: true,
    outcome: "ok",
    status: null,
    text: "OK",
  });
  const { length } = await gateway.gateway.database.sql`select from receipt`;
  assert.equal(length, 0, "no account is charged");

  upstream.answer({
    status: 401,
    body: { error: { message: "key sk-alpha-key-0123456789 revoked" } },
  });
  const refused = await (await gateway.admin("POST", "/providers/alpha/test", { model: "talk" }))
    .json();
  assert.deepEqual([refused.ok, refused.outcome, refused.status], [false, "unauthorized", 401]);
  assert.match(refused.text, /revoked/);
  assert.ok(!refused.text.includes("0123456789"), "keys are left out");
});

Deno.test("an embedding model is tested with a text: by its id, or where the provider has no chat model", async () => {
  await using upstream = startFakeUpstream();
  await using gateway = await openGateway({ config: configFor(upstream.url) });
  const ask = async (provider: string, body: object) =>
    await (await gateway.admin("POST", `/providers/${provider}/test`, body)).json();
  upstream.answer({
    status: 200,
    body: {
      object: "list",
      data: [{ object: "embedding", index: 0, embedding: [0.5, -0.5, 0.25] }],
      usage: { prompt_tokens: 2, total_tokens: 2 },
    },
  });
  const { duration_ms: _, ...result } = await ask("alpha", { model: "embed" });
  assert.deepEqual(result, {
    object: "provider_test",
    provider: "alpha",
    model: "embed",
    upstream_model: "e1",
    ok: true,
    outcome: "ok",
    status: null,
    text: "a vector of 3 numbers, 2 tokens",
  });
  const simulated = await ask("vectors", {});
  assert.deepEqual([simulated.model, simulated.ok], ["embed", true]);
  assert.match(simulated.text, /^a vector of \d+ numbers, \d+ tokens$/);
  upstream.answer({ status: 401, body: { error: { message: "revoked" } } });
  const refused = await ask("alpha", { model: "embed" });
  assert.deepEqual([refused.ok, refused.outcome, refused.status], [false, "unauthorized", 401]);
  const { length } = await gateway.gateway.database.sql`select from receipt`;
  assert.equal(length, 0, "no account is charged");
});

Deno.test("404 for a provider that is not configured, 400 for one without a key or without such a model", async () => {
  await using upstream = startFakeUpstream();
  await using gateway = await openGateway({ config: configFor(upstream.url) });
  for (
    const [provider, body, status, message] of [
      ["nothing", {}, 404, /There is no provider "nothing"/],
      ["idle", {}, 400, /has no key/],
      ["images", {}, 400, /serves no model for chat or embeddings, and only those are tested/],
      ["alpha", { model: "draw" }, 400, /serves no model "draw" for chat or embeddings/],
    ] as const
  ) {
    const response = await gateway.admin("POST", `/providers/${provider}/test`, body);
    assert.equal(response.status, status, provider);
    assert.match((await errorOf(response)).message, message);
  }
});
