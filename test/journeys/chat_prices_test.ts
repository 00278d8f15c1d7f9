import assert from "node:assert/strict";
import { type Json, openChatGateway } from "../helpers/chat_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";
import { startFakeUpstream } from "../helpers/fake_upstream.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

const configFor = (url: string) => `
plans: { free: {} }
limits: { default: { tokens_per_minute: 1000000000 } }
providers:
  open: { adapter: openai, base_url: "${url}/v1", api_key: "\${KEY:-k}" }
  other: { adapter: anthropic, base_url: "${url}/v1", api_key: "\${KEY:-k}" }
models:
  - id: gpt
    name: GPT
    type: chat
    capabilities: [chat, streaming]
    limits: { context_tokens: 1000000, max_output_tokens: 64000 }
    upstreams:
      - provider: open
        cost: { input_price: "1", output_price: "8", cached_input_price: "0.1", unit: 1M tokens,
                tiers: [{ above_input_tokens: 200000, input_price: "2", output_price: "12" }],
                service_tiers: { priority: { multiplier: "2" } } }
  - id: claude
    name: Claude
    type: chat
    capabilities: [chat, streaming]
    limits: { context_tokens: 200000, max_output_tokens: 64000 }
    upstreams:
      - provider: other
        cost: { input_price: "3", output_price: "15", cached_input_price: "0.3", cache_write_price: "3.75",
                cache_write_1h_price: "6", unit: 1M tokens }
  - id: plain
    name: Plain
    type: chat
    capabilities: [chat]
    limits: { max_output_tokens: 100 }
    upstreams: [{ provider: other }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: gpt, billing_type: token, input_price: "1.25", output_price: "10", cached_input_price: "0.125",
          unit: 1M tokens,
          tiers: [{ above_input_tokens: 200000, input_price: "2.5", output_price: "15", cached_input_price: "0.25" }],
          service_tiers: { priority: { multiplier: "2" }, flex: { input_price: "0.625", output_price: "5" } },
          fees: { web_search: "0.01" } }
      - { model: claude, billing_type: token, input_price: "3.6", output_price: "18", cached_input_price: "0.36",
          cache_write_price: "4.5", cache_write_1h_price: "7.2", unit: 1M tokens }
      - { model: plain, billing_type: token, input_price: "3.6", output_price: "18", unit: 1M tokens }
`;

async function open(cash?: string) {
  const upstream = startFakeUpstream();
  const gateway = await openChatGateway({ config: configFor(upstream.url), cash });
  return {
    upstream,
    gateway,
    /** The cost that operators see. */
    async costOf(response: Response): Promise<string | null> {
      const id = response.headers.get("x-request-id")!;
      const [row] = await gateway.gateway.database.sql<{ cost: string | null }[]>`
        select cost::text from receipt where id = ${id}`;
      return row!.cost === null ? null : String(Number(row!.cost));
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

const openAiReply = (usage: Json, more: Json = {}) => ({
  status: 200,
  body: {
    choices: [{
      index: 0,
      message: { role: "assistant", content: "Yes." },
      finish_reason: "stop",
    }],
    usage,
    ...more,
  },
});

const anthropicReply = (usage: Json) => ({
  status: 200,
  body: {
    type: "message",
    role: "assistant",
    content: [{ type: "text", text: "Yes." }],
    stop_reason: "end_turn",
    usage,
  },
});

Deno.test("a long prompt is billed in its tier, every token of it", STRICT, async () => {
  await using opened = await open();
  const { gateway, upstream } = opened;
  upstream.answer(openAiReply({
    prompt_tokens: 300_000,
    completion_tokens: 1000,
    prompt_tokens_details: { cached_tokens: 100_000 },
  }));
  const res = await gateway.chat("gpt", "x".repeat(300_000), { max_tokens: 1000 });
  assert.equal(res.status, 200, await res.text());
  const receipt = await gateway.receipt(res);
  // 200,000 × 2.5/1M + 100,000 × 0.25/1M + 1,000 × 15/1M
  assert.equal(receipt.settled, "0.54");
  assert.deepEqual(receipt.usage, {
    ...{ input_tokens: 200_000, cached_input_tokens: 100_000, output_tokens: 1000 },
    ...{ reasoning_tokens: 0, calls: 1 },
  });
  // 200,000 × 2/1M + 100,000 × 0.1/1M + 1,000 × 12/1M
  assert.equal(await opened.costOf(res), "0.422");
  await gateway.verify();
});

Deno.test(
  "the tier that was served is billed, and the hold covers the one that was asked for",
  STRICT,
  async () => {
    await using opened = await open();
    const { gateway, upstream } = opened;
    const usage = { prompt_tokens: 1000, completion_tokens: 100 };
    const ask = async (service_tier: string | undefined, served: string) => {
      upstream.answer(openAiReply(usage, { service_tier: served }));
      const res = await gateway.chat("gpt", "Hello", { max_tokens: 100, service_tier });
      assert.equal(res.status, 200, await res.text());
      const { settled, held, usage: used } = await gateway.receipt(res);
      const sent = JSON.parse(upstream.seen.at(-1)!.body).service_tier;
      return { settled, held, tier: used.service_tier, sent, cost: await opened.costOf(res) };
    };
    // 1,000 × 1.25/1M + 100 × 10/1M, and 1,000 × 1/1M + 100 × 8/1M
    const base = await ask(undefined, "default");
    assert.deepEqual([base.settled, base.cost, base.sent], ["0.00225", "0.0018", undefined]);
    const priority = await ask("priority", "priority");
    assert.deepEqual([priority.settled, priority.cost, priority.sent], [
      "0.0045",
      "0.0036",
      "priority",
    ]);
    assert.equal(priority.tier, "priority");
    assert.ok(Number(priority.held) > 1.9 * Number(base.held));
    // Asked for, and not served: the base price.
    const missed = await ask("priority", "default");
    assert.deepEqual([missed.settled, missed.cost, missed.tier], ["0.00225", "0.0018", undefined]);
    // Served, and not asked for: the base price to the client, and what it cost to us.
    const surprised = await ask("auto", "priority");
    assert.deepEqual([surprised.settled, surprised.cost], ["0.00225", "0.0036"]);
    assert.equal(surprised.sent, undefined);
    // The cost of flex is not declared: not known, rather than zero.
    const flex = await ask("flex", "flex");
    assert.deepEqual([flex.settled, flex.cost], ["0.001125", null]);
  },
);

Deno.test(
  "searches are billed each, and their cost is unknown unless it is declared",
  STRICT,
  async () => {
    await using opened = await open();
    const { gateway, upstream } = opened;
    const usage = { prompt_tokens: 1000, completion_tokens: 0 };
    const more = { max_tokens: 10, web_search_options: {} };
    upstream.answer(
      openAiReply({ ...usage, server_tool_use: { web_search_requests: 3 } }),
    );
    const counted = await gateway.chat("gpt", "Hello", more);
    assert.equal((await gateway.receipt(counted)).settled, "0.03125"); // 3 × 0.01 + 1,000 × 1.25/1M
    assert.equal(await opened.costOf(counted), null);
    await counted.body?.cancel();
    upstream.answer(openAiReply(usage));
    const uncounted = await gateway.chat("gpt", "Hello", more);
    assert.equal(
      (await gateway.receipt(uncounted)).settled,
      "0.01125",
      "one search for the answer",
    );
    await uncounted.body?.cancel();
  },
);

Deno.test(
  "marks for the cache reach Anthropic, and hits and writes are billed",
  STRICT,
  async () => {
    await using opened = await open();
    const { gateway, upstream } = opened;
    upstream.answer(anthropicReply({
      input_tokens: 2048,
      cache_read_input_tokens: 1800,
      cache_creation_input_tokens: 556,
      cache_creation: { ephemeral_5m_input_tokens: 456, ephemeral_1h_input_tokens: 100 },
      output_tokens: 503,
    }));
    const cache_control = { type: "ephemeral", ttl: "1h" };
    const messages = [
      { role: "system", content: [{ type: "text", text: "A handbook.", cache_control }] },
      {
        role: "user",
        content: [{ type: "text", text: "Hello", cache_control: { type: "ephemeral" } }],
      },
    ];
    const res = await gateway.chat("claude", "", { messages, max_tokens: 600 });
    const { usage } = await res.json();
    assert.deepEqual(usage.prompt_tokens, 2048 + 1800 + 556);
    assert.deepEqual(usage.prompt_tokens_details, { cached_tokens: 1800, cache_write_tokens: 556 });
    const sent = JSON.parse(upstream.seen[0]!.body);
    assert.deepEqual(sent.system, [{ type: "text", text: "A handbook.", cache_control }]);
    assert.deepEqual(sent.messages[0].content[0].cache_control, { type: "ephemeral" });
    const receipt = await gateway.receipt(res);
    // 2,048 × 3.6 + 1,800 × 0.36 + 456 × 4.5 + 100 × 7.2 + 503 × 18, per million
    assert.equal(receipt.settled, "0.019847");
    assert.equal(receipt.usage.cache_write_tokens, 456);
    assert.equal(receipt.usage.cache_write_1h_tokens, 100);
    // 2,048 × 3 + 1,800 × 0.3 + 456 × 3.75 + 100 × 6 + 503 × 15, per million
    assert.equal(await opened.costOf(res), "0.016539");

    // A price that does not know cache writes: the marks are left out, and nothing extra is charged.
    upstream.answer(anthropicReply({ input_tokens: 10, output_tokens: 1 }));
    const plain = await gateway.chat("plain", "", { messages });
    assert.equal(plain.status, 200, await plain.text());
    assert.ok(!upstream.seen.at(-1)!.body.includes("cache_control"));
  },
);

Deno.test("400 for a mark that is none", STRICT, async () => {
  await using opened = await open();
  const { gateway } = opened;
  for (
    const [cache_control, param] of [
      [{ type: "permanent" }, "messages.0.content.0.cache_control.type"],
      [{ type: "ephemeral", ttl: "9h" }, "messages.0.content.0.cache_control.ttl"],
    ] as const
  ) {
    const content = [{ type: "text", text: "Hello", cache_control }];
    const res = await gateway.chat("claude", "", { messages: [{ role: "user", content }] });
    const error = await errorOf(res);
    assert.deepEqual([res.status, error.code, error.param], [400, "invalid_value", param]);
  }
});

Deno.test("without a limit, a chat is limited to what the balance covers", STRICT, async () => {
  await using opened = await open("0.05");
  const { gateway, upstream } = opened;
  const reply = anthropicReply({ input_tokens: 10, output_tokens: 1 });
  upstream.answer(reply);
  // 64,000 tokens of output would be 1.152.
  const res = await gateway.chat("claude", "Hello");
  assert.equal(res.status, 200, await res.text());
  const { max_tokens } = JSON.parse(upstream.seen[0]!.body);
  const { held } = await gateway.receipt(res);
  assert.ok(Number(held) <= 0.05 && Number(held) > 0.0499, held);
  assert.ok(max_tokens >= 2000 && max_tokens <= 2778, `${max_tokens}`); // 0.05 / 18 per million

  const body = { model: "claude", messages: [{ role: "user", content: "Hello" }] };
  const quoted = await gateway.fetch("/v1/quotes", {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ path: "/chat/completions", body }),
  });
  const quote = await quoted.json();
  assert.equal(quote.covered, true);
  assert.ok(quote.max_tokens <= max_tokens && quote.max_tokens > max_tokens - 10);
  assert.equal(quote.from.cash, quote.amount);
  assert.equal(quote.from.missing, "0.00");
});

Deno.test("402 names the largest max_tokens that fits, which then does", STRICT, async () => {
  await using opened = await open("0.05");
  const { gateway, upstream } = opened;
  const short = await gateway.chat("claude", "Hello", { max_tokens: 10_000 });
  assert.equal(short.status, 402);
  const { message } = await errorOf(short);
  const named = Number(
    /The largest max_tokens that your balance covers is (\d+)\.$/.exec(message)?.[1],
  );
  assert.match(message, /recharge at \/console\/billing or change plan/);
  assert.equal(upstream.seen.length, 0);
  upstream.answer(anthropicReply({ input_tokens: 10, output_tokens: 1 }));
  const above = await gateway.chat("claude", "Hello", { max_tokens: named + 1 });
  assert.equal(above.status, 402, await above.text());
  const res = await gateway.chat("claude", "Hello", { max_tokens: named });
  assert.equal(res.status, 200, await res.text());
});

Deno.test("402 without a limit where less than 256 tokens are left", STRICT, async () => {
  await using opened = await open("0.004");
  const res = await opened.gateway.chat("claude", "Hello");
  assert.equal(res.status, 402);
  assert.match((await errorOf(res)).message, /covers is \d{2,3}\.$/);
});

Deno.test("max_tokens above the model's limit is lowered to it", STRICT, async () => {
  await using opened = await open();
  const { gateway, upstream } = opened;
  upstream.answer(anthropicReply({ input_tokens: 10, output_tokens: 1 }));
  const res = await gateway.chat("plain", "Hello", { max_tokens: 32_000 });
  assert.equal(res.status, 200, await res.text());
  assert.equal(JSON.parse(upstream.seen[0]!.body).max_tokens, 100);
});
