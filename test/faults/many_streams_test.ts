import assert from "node:assert/strict";
import { serveSimulator } from "../../providers/simulator/serve.ts";
import { eventsOf, openChatGateway } from "../helpers/chat_gateway.ts";

const STREAMS = 1_000;
/** Long enough that all are open at once; `STREAM_SECONDS=60` holds them for a minute. */
const SECONDS = Number(Deno.env.get("STREAM_SECONDS") ?? "2");

Deno.test("1,000 streams at once, one reader slow: all end well, and again, without memory growing", async () => {
  await using upstream = await serveSimulator({
    orders: `pace=${Math.round(SECONDS * 50)}ms tokens=20`,
  });
  await using gateway = await openChatGateway({
    cash: "100000",
    declaration: `
limits: { default: { requests_per_minute: 1000000, tokens_per_minute: 1000000000 } }
providers: { sim: { adapter: openai_compatible, base_url: "${upstream.baseUrl}" } }
models:
  - { id: talk, name: Talk, type: chat, capabilities: [chat, streaming], limits: { max_output_tokens: 100 }, upstreams: [{ provider: sim, model: chat }] }
prices: { default: { effective_at: 2026-01-01T00:00:00Z, entries: [{ model: talk, billing_type: token, input_price: "1", output_price: "1", unit: 1M tokens }] } }
`,
  });
  const one = async (isSlow: boolean) => {
    const res = await gateway.chat("talk", "Hello", { stream: true });
    assert.equal(res.status, 200);
    if (isSlow) await new Promise((resume) => setTimeout(resume, SECONDS * 500));
    const events = await eventsOf(res);
    assert.equal(events.at(-1), "[DONE]");
  };
  const round = async () => {
    await Promise.all(Array.from({ length: STREAMS }, (_, at) => one(at === 0)));
    return Deno.memoryUsage().rss / 1024 / 1024;
  };
  // The first rounds fill pools of every kind (clients and upstream live here too); what a leak would show is growth from round to round.
  const sizes: number[] = [];
  for (let i = 0; i < 4; i++) sizes.push(await round());
  assert.deepEqual((await gateway.balance()).frozen, "0.00");
  await gateway.verify();
  const { data } = await (await gateway.admin("GET", "/providers")).json();
  assert.equal(data[0].upstreams[0].in_flight, 0);
  assert.ok(sizes[3]! - sizes[1]! < 300, sizes.map((size) => `${size.toFixed(0)} MiB`).join(", "));
});
