import assert from "node:assert/strict";
import { serveSimulator, type SimulatorServer } from "../../providers/simulator/serve.ts";
import { until } from "../helpers/chat_gateway.ts";
import { type MediaGateway, openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

/** Each model has two upstreams at the same simulator, so that a second try would be counted there too. */
const configuration = (baseUrl: string) => `
service: { name: Once, currency: EUR }
outbound: { allow_private: true }
providers:
  first: { adapter: simulator, base_url: "${baseUrl}", headers: { x-simulate: "seconds=0" }, timeout_seconds: 15 }
  second: { adapter: simulator, base_url: "${baseUrl}", headers: { x-simulate: "seconds=0" }, timeout_seconds: 15 }
models:
  - id: video-model
    name: Video
    type: video
    capabilities: [text_to_video]
    limits: { durations: [2], aspect_ratios: ["1:1"] }
    upstreams: [{ provider: first, model: v }, { provider: second, model: v, priority: 1 }]
  - id: voice
    name: Voice
    type: speech
    capabilities: [text_to_speech]
    limits: { voices: [alma], formats: [wav], max_prompt_length: 100 }
    upstreams: [{ provider: first, model: s }, { provider: second, model: s, priority: 1 }]
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat]
    limits: { context_tokens: 8000, max_output_tokens: 100 }
    upstreams: [{ provider: first, model: chat }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: video-model, billing_type: duration, price: "0.05", unit: second }
      - { model: voice, billing_type: per_call, price: "0.50", unit: 1K characters }
      - { model: talk, billing_type: token, unit: 1M tokens, input_price: "1", output_price: "1" }
`;

async function openOnce(): Promise<
  { gateway: MediaGateway; simulator: SimulatorServer } & AsyncDisposable
> {
  const simulator = serveSimulator({ closes: true });
  const gateway = await openMediaGateway({
    config: configuration(simulator.baseUrl),
    cash: "1.00",
  });
  return {
    gateway,
    simulator,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await simulator[Symbol.asyncDispose]();
    },
  };
}

const submitVideo = (gateway: MediaGateway, orders: string) =>
  gateway.submit("/v1/videos/generations", {
    model: "video-model",
    prompt: `[[simulate: ${orders}]] a tide`,
    duration: 2,
  });

Deno.test(
  "a job that its upstream accepts without saying so is found there, made once and paid for once",
  STRICT,
  async () => {
    await using once = await openOnce();
    const { gateway, simulator } = once;
    for (const orders of ["accept_and_close", "accept_and_answer=500", "accept_and_answer=503"]) {
      const task = await submitVideo(gateway, orders);
      const done = await gateway.ended(task.id);
      assert.equal(done.status, "succeeded", `${orders}: ${JSON.stringify(done)}`);
      assert.equal(done.charge.settled, "0.10");
      assert.equal(simulator.submissions.get(task.id), 1, orders);
    }
    assert.deepEqual(await gateway.balance(), { available: "0.70", frozen: "0.00" });
    await gateway.verify();
  },
);

Deno.test(
  "a job that an upstream accepts long after its answer was lost is not submitted again meanwhile",
  STRICT,
  async () => {
    await using once = await openOnce();
    const { gateway, simulator } = once;
    const { sql } = gateway.gateway.database;
    const task = await submitVideo(gateway, "accept_and_close, accept_after=3s");
    // Ten seconds after it was sent the upstream has it not yet, and within its time-out it still may.
    await until("it is unclear what became of it", async () => {
      const { count } = await sql`
        update task set submitted_at = submitted_at - interval '12 seconds'
         where id = ${task.id} and phase = 'submitting' and lease_until is null`;
      return count === 1;
    }, 10);
    const done = await gateway.ended(task.id);
    assert.equal(done.status, "succeeded", JSON.stringify(done));
    assert.equal(simulator.submissions.get(task.id), 1);
    assert.deepEqual(await gateway.balance(), { available: "0.90", frozen: "0.00" });
    await gateway.verify();
  },
);

Deno.test(
  "503 of speech that its upstream may have made: it is asked once, at once or as a task, and costs nothing",
  STRICT,
  async () => {
    await using once = await openOnce();
    const { gateway, simulator } = once;
    const orders = ["accept_and_close", "accept_and_answer=500", "accept_and_answer=503", "cut=0"];
    for (const order of orders) {
      const body = { model: "voice", input: `[[simulate: ${order}]] hello`, voice: "alma" };
      const before = simulator.counters.started;
      const res = await gateway.post("/v1/audio/speech", body);
      assert.equal(res.status, 503, order);
      assert.equal((await errorOf(res)).code, "upstream_failed");
      assert.equal(simulator.counters.started, before + 1, order);
      const task = await gateway.submit("/v1/audio/speech", body, { prefer: "respond-async" });
      const done = await gateway.ended(task.id);
      assert.deepEqual([done.status, done.error.code], ["failed", "upstream_failed"], order);
      assert.equal(simulator.counters.started, before + 2, order);
    }
    assert.deepEqual(await gateway.balance(), { available: "1.00", frozen: "0.00" });
    await gateway.verify();
  },
);

Deno.test("a chat that its upstream accepts and closes is asked once", STRICT, async () => {
  await using once = await openOnce();
  const { gateway, simulator } = once;
  const ask = (content: string) =>
    gateway.post("/v1/chat/completions", { model: "talk", messages: [{ role: "user", content }] });
  const good = await ask("hello");
  assert.equal(good.status, 200, await good.text());
  for (let round = 0; round < 2; round++) {
    const before = simulator.counters.started;
    const res = await ask(`[[simulate: accept_and_close]] ${round}`);
    assert.equal(res.status, 503);
    await res.body?.cancel();
    assert.equal(simulator.counters.started, before + 1);
  }
  assert.equal((await gateway.balance()).frozen, "0.00");
  await gateway.verify();
});
