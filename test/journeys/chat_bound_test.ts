import assert from "node:assert/strict";
import fc from "fast-check";
import { type ChatGateway, type Json, openChatGateway, until } from "../helpers/chat_gateway.ts";
import {
  type CountingDialect,
  type CountingUpstream,
  pngHead,
  startCountingUpstream,
} from "../helpers/counting_upstream.ts";

const UPSTREAM_MODELS: Record<CountingDialect, string> = {
  openai: "gpt-4o-mini",
  anthropic: "claude-sonnet-4-5",
  gemini: "gemini-2.5-flash",
};

/** One token costs 0.001 in and 0.002 out, so that every charge is exact. */
function configFor(dialect: CountingDialect, url: string): string {
  return `
limits: { default: { requests_per_minute: 100000, tokens_per_minute: 1000000000 } }
providers: { up: { adapter: ${dialect}, base_url: "${url}", api_key: "\${KEY:-k}" } }
models:
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat, streaming, vision, tools, json_schema, reasoning]
    limits: { context_tokens: 10000000, max_output_tokens: 8192 }
    upstreams: [{ provider: up, model: ${UPSTREAM_MODELS[dialect]} }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: talk, billing_type: token, input_price: "1", output_price: "2", unit: 1K tokens }
`;
}

interface Bench extends AsyncDisposable {
  gateway: ChatGateway;
  upstream: CountingUpstream;
}

async function openBench(dialect: CountingDialect): Promise<Bench> {
  await using parts = new AsyncDisposableStack();
  const upstream = parts.use(startCountingUpstream(dialect));
  const config = configFor(dialect, upstream.url);
  const gateway = parts.use(await openChatGateway({ cash: "100000000", config }));
  const kept = parts.move();
  return { gateway, upstream, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Sends a request and answers what it cost, what was held for it, and what the upstream reported. */
async function costOf({ gateway, upstream }: Bench, body: Json) {
  const res = await gateway.fetch("/v1/chat/completions", {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "talk", ...body }),
  });
  assert.equal(res.status, 200, await res.clone().text());
  await res.body?.cancel();
  const { held, settled } = await gateway.receipt(res);
  const { input, output } = upstream.counted.at(-1)!;
  return {
    held: Number(held),
    settled: Number(settled),
    due: (input + 2 * output) / 1000,
    sent: upstream.seen.at(-1)!,
  };
}

const HELLO = [{ role: "user", content: "Hello" }];
const LONG = "x".repeat(90_000);
const image = (width: number, height: number, detail?: string) => ({
  type: "image_url",
  image_url: { url: `data:image/png;base64,${pngHead(width, height)}`, ...(detail && { detail }) },
});

/** What was once forwarded without being counted. */
const UNCOUNTED: Record<string, Json> = {
  "the description of a function": {
    messages: HELLO,
    max_tokens: 10,
    functions: [{ name: "f", description: LONG }],
  },
  "the schema of the answer": {
    messages: HELLO,
    max_tokens: 10,
    response_format: {
      type: "json_schema",
      json_schema: { name: "s", schema: { type: "object", description: LONG } },
    },
  },
  "a prediction, which is paid like output": {
    messages: HELLO,
    max_tokens: 10,
    prediction: { type: "content", content: LONG },
  },
  "a refusal in the history": {
    messages: [...HELLO, {
      role: "assistant",
      content: [{ type: "refusal", refusal: LONG }],
    }, ...HELLO],
    max_tokens: 10,
  },
  "a large image": {
    messages: [{ role: "user", content: [image(4000, 3000, "high")] }],
    max_tokens: 10,
  },
  "an answer without a limit": { messages: HELLO },
  "two limits of which one is small": {
    messages: HELLO,
    max_completion_tokens: 1,
    max_tokens: 8192,
  },
};

for (const [what, body] of Object.entries(UNCOUNTED)) {
  Deno.test(`the hold covers ${what}, and what the upstream reports is charged`, async () => {
    await using bench = await openBench("openai");
    const { held, settled, due } = await costOf(bench, body);
    assert.equal(settled, due);
    assert.ok(held >= due, `held ${held}, due ${due}`);
    await bench.gateway.verify();
  });
}

Deno.test("the hold covers the tools that are made from tool calls in the history", async () => {
  await using bench = await openBench("anthropic");
  const call = { id: "call_000000000000000000000001", type: "function" };
  const { held, settled, due } = await costOf(bench, {
    messages: [
      {
        role: "assistant",
        content: null,
        tool_calls: [{
          ...call,
          function: { name: "f", arguments: JSON.stringify({ text: LONG }) },
        }],
      },
      { role: "tool", tool_call_id: call.id, content: "ok" },
      ...HELLO,
    ],
    max_tokens: 10,
  });
  assert.equal(settled, due);
  assert.ok(held >= due, `held ${held}, due ${due}`);
  await bench.gateway.verify();
});

Deno.test("a GIF is held for its largest frame, whatever its screen says", async () => {
  await using bench = await openBench("openai");
  // A screen of 1 × 1, a colour table, and a frame of 4000 × 2000.
  const gif = Uint8Array.fromHex(
    "47494638396101000100800000000000ffffff2c00000000a00fd0070002024c01003b",
  ).toBase64();
  const heldFor = async (url: string) => {
    const content = [{ type: "image_url", image_url: { url } }];
    return (await costOf(bench, { messages: [{ role: "user", content }], max_tokens: 10 })).held;
  };
  const large = await heldFor(`data:image/png;base64,${pngHead(4000, 2000)}`);
  assert.ok(large > await heldFor(`data:image/png;base64,${pngHead(1, 1)}`));
  assert.equal(await heldFor(`data:image/gif;base64,${gif}`), large);
  await bench.gateway.verify();
});

Deno.test("an upstream is always told one limit of the answer, the model's own where the client has none", async () => {
  await using bench = await openBench("openai");
  const limits = async (body: Json) => {
    const { sent } = await costOf(bench, body);
    return [sent.max_completion_tokens, sent.max_tokens];
  };
  assert.deepEqual(await limits({ messages: HELLO }), [8192, undefined]);
  assert.deepEqual(await limits({ messages: HELLO, max_tokens: 7 }), [7, undefined]);
  assert.deepEqual(
    await limits({ messages: HELLO, max_tokens: 8192, max_completion_tokens: 1 }),
    [1, undefined],
  );
  const prediction = { type: "content", content: "Hello" };
  assert.deepEqual(await limits({ messages: HELLO, prediction }), [undefined, 8192]);
});

const text = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 300 }),
  fc.constantFrom("x".repeat(2000), "世界".repeat(300), '🌍"\\\n'.repeat(100)),
);
const part = fc.oneof(
  text.map((words) => ({ type: "text", text: words })),
  fc.tuple(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 5000 })).map(
    ([width, height]) => image(width, height),
  ),
);
const schema = text.map((description) => ({
  type: "object",
  description,
  properties: { a: { type: "string", description } },
}));
const turn = fc.oneof(
  text.map((content) => [{ role: "user", content }]),
  fc.array(part, { minLength: 1, maxLength: 4 }).map((content) => [{ role: "user", content }]),
  text.map((content) => [{ role: "assistant", content }]),
  text.map((content) => [{ role: "system", content }]),
  fc.tuple(text, text).map(([words, result]) => [
    {
      role: "assistant",
      content: null,
      tool_calls: [{
        id: "call_000000000000000000000001",
        type: "function",
        function: { name: "f", arguments: JSON.stringify({ words }) },
      }],
    },
    { role: "tool", tool_call_id: "call_000000000000000000000001", content: result },
  ]),
);
const request = fc.record({
  messages: fc.array(turn, { maxLength: 5 }).map((turns) => [...turns.flat(), ...HELLO]),
  max_tokens: fc.integer({ min: 1, max: 8192 }),
  max_completion_tokens: fc.integer({ min: 1, max: 8192 }),
  tools: fc.array(schema, { minLength: 1, maxLength: 3 }).map((schemas) =>
    schemas.map((parameters, at) => ({
      type: "function",
      function: { name: `f${at}`, description: "d", parameters },
    }))
  ),
  response_format: schema.map((given) => ({
    type: "json_schema",
    json_schema: { name: "s", schema: given },
  })),
  stop: fc.array(fc.string({ minLength: 1, maxLength: 9 }), { minLength: 1, maxLength: 3 }),
}, { requiredKeys: ["messages"] });

for (const dialect of ["openai", "anthropic", "gemini"] as const) {
  Deno.test(`whatever is asked of ${dialect}: the hold covers what it reports, which is charged to the last digit`, async () => {
    await using bench = await openBench(dialect);
    await fc.assert(
      fc.asyncProperty(request, async (body) => {
        const { held, settled, due } = await costOf(bench, body);
        assert.equal(settled, due);
        assert.ok(held >= due, `held ${held}, due ${due}`);
      }),
      { numRuns: 60 },
    );
    await bench.gateway.verify();
  });
}

/** A stream whose usage comes `usageMs` after its last words, and whose connection then stays open. */
function startLateUsage(usageMs: number) {
  let isOpen = false;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    await request.body?.cancel();
    isOpen = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const event = (data: Json) => new TextEncoder().encode(`data: ${JSON.stringify(data)}\n\n`);
    const body = new ReadableStream({
      start(controller) {
        const said = { role: "assistant", content: "All of it." };
        controller.enqueue(event({ choices: [{ index: 0, delta: said, finish_reason: null }] }));
        controller.enqueue(event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
        timer = setTimeout(() => {
          const usage = { prompt_tokens: 1000, completion_tokens: 5000 };
          controller.enqueue(event({ choices: [], usage }));
        }, usageMs);
      },
      cancel() {
        isOpen = false;
        clearTimeout(timer);
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    isOpen: () => isOpen,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function leaveAfterLastWords(gateway: ChatGateway): Promise<Json> {
  const leaving = new AbortController();
  const res = await gateway.chat("talk", "Hello", { stream: true }, { signal: leaving.signal });
  const reader = res.body!.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  while (!seen.includes('"finish_reason":"stop"')) seen += (await reader.read()).value;
  leaving.abort();
  await reader.read().catch(() => undefined);
  await until("it is settled", async () => (await gateway.receipt(res)).status === "settled");
  return await gateway.receipt(res);
}

Deno.test("who leaves between the last words and the usage pays what the upstream reports", async () => {
  await using upstream = startLateUsage(300);
  await using gateway = await openChatGateway({
    config: configFor("openai", upstream.url),
  });
  const { usage, settled } = await leaveAfterLastWords(gateway);
  assert.deepEqual([usage.input_tokens, usage.output_tokens], [1000, 5000]);
  assert.equal(usage.estimated, undefined);
  assert.equal(Number(settled), 11);
  await until("the upstream is left", () => !upstream.isOpen());
  await gateway.verify();
});

Deno.test("a usage that does not come is not waited for: the estimate counts, and the upstream is left", async () => {
  await using upstream = startLateUsage(60_000);
  await using gateway = await openChatGateway({
    config: configFor("openai", upstream.url),
  });
  const { usage } = await leaveAfterLastWords(gateway);
  assert.equal(usage.estimated, true);
  assert.ok(usage.output_tokens >= 3, JSON.stringify(usage));
  await until("the upstream is left", () => !upstream.isOpen());
  await gateway.verify();
});
