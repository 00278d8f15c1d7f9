import assert from "node:assert/strict";
import { run } from "../../src/cli/main.ts";
import { ADMIN_TOKEN, errorOf } from "../helpers/open_gateway.ts";
import { type MediaGateway, openMediaGateway } from "../helpers/media_gateway.ts";

const CONFIG = `
service: { name: Figures, currency: EUR }
outbound: { allow_private: true }
providers:
  sim: { adapter: simulator, headers: { x-simulate: "seconds=0 pace=0" } }
  sick: { adapter: simulator, headers: { x-simulate: "status=500" } }
models:
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat, streaming]
    limits: { context_tokens: 10000, max_output_tokens: 100 }
    upstreams:
      - { provider: sick, model: chat, priority: 0 }
      - { provider: sim, model: chat, priority: 1, cost: { price: "0.02", unit: call } }
  - id: draw
    name: Draw
    type: image
    capabilities: [text_to_image]
    limits: { sizes: [64x64] }
    upstreams: [{ provider: sim, model: image, cost: { price: "0.01", unit: image } }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: talk, billing_type: per_call, price: "0.05", unit: call }
      - { model: draw, billing_type: per_call, price: "0.05", unit: image }
`;

async function figuresOf(gateway: MediaGateway, query = "") {
  const res = await gateway.admin("GET", `/upstreams${query}`);
  assert.equal(res.status, 200, await res.clone().text());
  const { window, data } = await res.json();
  return { window, data: Object.fromEntries(data.map(toNamed)) };
}

// deno-lint-ignore no-explicit-any
const toNamed = (each: any) => [`${each.provider}/${each.upstream_model}`, each];

Deno.test("200 with success, latency and cost of every upstream, of chats and tasks", async () => {
  await using gateway = await openMediaGateway({ config: CONFIG, cash: "10" });
  const unused = (await figuresOf(gateway)).data["sim/chat"];
  assert.deepEqual([unused.attempts, unused.success_rate, unused.latency_ms, unused.cost], [
    0,
    null,
    null,
    "0.00",
  ]);
  const chat = { model: "talk", messages: [{ role: "user", content: "Hello" }] };
  for (let n = 0; n < 2; n++) {
    const res = await gateway.post("/v1/chat/completions", chat);
    assert.equal(res.status, 200, await res.text());
  }
  const draw = { model: "draw", prompt: "a tide", size: "64x64" };
  const { id } = await gateway.submit("/v1/images/generations", draw, { prefer: "respond-async" });
  assert.equal((await gateway.ended(id)).status, "succeeded");

  const { window, data } = await figuresOf(gateway);
  assert.equal(window, "1h");
  const { "sim/chat": answered, "sick/chat": failed, "sim/image": image } = data;
  assert.deepEqual([answered.attempts, answered.success_rate, answered.outcomes], [2, 1, {
    ok: 2,
  }]);
  assert.deepEqual([answered.cost, answered.currency, answered.models], ["0.04", "EUR", ["talk"]]);
  assert.ok(answered.latency_ms.p50 <= answered.latency_ms.p95);
  assert.deepEqual([failed.success_rate, failed.outcomes, failed.latency_ms, failed.cost], [
    0,
    { failed: 2 },
    null,
    "0.00",
  ]);
  assert.deepEqual([image.attempts, image.success_rate, image.cost, image.uncosted, image.state], [
    ...[1, 1, "0.01", 0, "closed"],
  ]);

  let out = "";
  const { log } = console;
  console.log = (text: string) => out += text;
  try {
    const environment = { NO_COLOR: "1", ADMIN_TOKEN, GATEWAY_URL: gateway.address };
    assert.equal(await run(["upstream", "list", "--window", "24h"], environment), 0);
  } finally {
    console.log = log;
  }
  assert.match(out, /sim\/chat +closed +2 +100\.0 % +\d+ +\d+ +0\.04 EUR/);
});

Deno.test("figures outlive the upstream, leave out what is older than the window, and 400 for another window", async () => {
  await using gateway = await openMediaGateway({ config: CONFIG, cash: "10" });
  const chat = { model: "talk", messages: [{ role: "user", content: "Hello" }] };
  await (await gateway.post("/v1/chat/completions", chat)).text();
  await Deno.writeTextFile(
    gateway.configFile,
    CONFIG.replaceAll("provider: sick", "provider: sim"),
  );
  await (await gateway.admin("POST", "/config/reload")).text();
  const { sql } = gateway.gateway.database;
  const removed = (await figuresOf(gateway)).data["sick/chat"];
  assert.deepEqual([removed.attempts, removed.models, removed.state], [1, [], null]);
  await sql`update request set created_at = created_at - interval '30 minutes'`;
  assert.equal((await figuresOf(gateway, "?window=15m")).data["sick/chat"], undefined);
  assert.equal((await figuresOf(gateway)).data["sick/chat"].attempts, 1);
  const refused = await gateway.admin("GET", "/upstreams?window=2y");
  assert.equal(refused.status, 400);
  assert.equal((await errorOf(refused)).param, "window");
});
