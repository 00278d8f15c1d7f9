import assert from "node:assert/strict";
import type OpenAI from "openai";
import { type Json, openChatGateway } from "../helpers/chat_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";

type Fields = OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming;

/** Every field that the official client knows: a newer one with more of them does not compile here. */
const FIELDS: Required<Omit<Fields, "audio" | "model">> = {
  frequency_penalty: 0.5,
  function_call: "auto",
  functions: [{ name: "f" }],
  logit_bias: { "50256": -100 },
  logprobs: true,
  max_completion_tokens: 20,
  max_tokens: 20,
  messages: [{ role: "user", content: "Is it?" }],
  metadata: { job: "7" },
  modalities: ["text"],
  moderation: { model: "omni-moderation-latest", policy: { input: { mode: "block" } } },
  n: 1,
  parallel_tool_calls: false,
  prediction: { type: "content", content: "It is." },
  presence_penalty: 0.5,
  prompt_cache_key: "k",
  prompt_cache_options: { mode: "explicit" },
  prompt_cache_retention: "24h",
  reasoning_effort: "max",
  response_format: { type: "json_object" },
  safety_identifier: "s",
  seed: 7,
  service_tier: "fast",
  stop: ["END"],
  store: false,
  stream: false,
  stream_options: { include_obfuscation: false },
  temperature: 0.5,
  tool_choice: "auto",
  tools: [{ type: "function", function: { name: "f" } }],
  top_logprobs: 2,
  top_p: 0.9,
  user: "u",
  verbosity: "low",
  web_search_options: { search_context_size: "low" },
};

/** Keeps what it was asked last. */
function serveUpstream(): AsyncDisposable & { address: string; asked: Json } {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    upstream.asked = await request.json();
    const message = { role: "assistant", content: "Yes." };
    return Response.json({
      choices: [{ index: 0, message, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  });
  const upstream = {
    address: `http://127.0.0.1:${server.addr.port}/v1`,
    asked: null as Json,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return upstream;
}

const configFor = (address: string) => `
plans: { free: {} }
providers:
  open: { adapter: openai_compatible, base_url: "${address}" }
  closed: { adapter: llama_cpp, base_url: "${address}" }
models:
  - { id: able, name: Able, type: chat, capabilities: [chat, streaming, tools, json_schema, reasoning],
      upstreams: [{ provider: open, model: m }] }
  - { id: small, name: Small, type: chat, capabilities: [chat], upstreams: [{ provider: closed, model: m }] }
prices:
  default:
    effective_at: 2026-01-01T00:00:00+00:00
    entries:
      - { model: able, billing_type: token, input_price: "0.01", output_price: "0.01", unit: 1M tokens,
          cache_write_price: "0.01", cache_write_1h_price: "0.02", service_tiers: { fast: { multiplier: "2" } },
          fees: { web_search: "0.01" } }
      - { model: small, billing_type: per_call, price: "0.01", unit: call }
`;

Deno.test(
  "every field of the official client passes, to those who know it",
  { sanitizeOps: true, sanitizeResources: true },
  async () => {
    await using upstream = serveUpstream();
    await using gateway = await openChatGateway({ config: configFor(upstream.address) });
    const whole = await gateway.chat("able", "", FIELDS);
    assert.equal(whole.status, 200, JSON.stringify(await whole.json()));
    // Options of a stream are nothing to a whole answer; of two names for the limit, one is sent.
    const { stream_options: _, max_completion_tokens: __, ...passed } = FIELDS;
    assert.deepEqual(upstream.asked, { model: "m", ...passed });

    const { moderation } = FIELDS;
    const dropped = await gateway.chat("small", "Is it?", { moderation });
    assert.equal(dropped.status, 200, JSON.stringify(await dropped.json()));
    assert.deepEqual(Object.keys(upstream.asked).sort(), ["max_tokens", "messages", "model"]);
  },
);

Deno.test(
  "reasoning_effort: none asks nothing of a model that does not reason, and is not passed on",
  { sanitizeOps: true, sanitizeResources: true },
  async () => {
    await using upstream = serveUpstream();
    await using gateway = await openChatGateway({ config: configFor(upstream.address) });
    for (const [model, seen] of [["small", undefined], ["able", "none"]] as const) {
      const res = await gateway.chat(model, "Is it?", { reasoning_effort: "none" });
      assert.equal(res.status, 200, JSON.stringify(await res.json()));
      assert.equal(upstream.asked.reasoning_effort, seen, model);
    }
    const asked = await gateway.chat("small", "Is it?", { reasoning_effort: "max" });
    assert.equal((await errorOf(asked)).code, "capability_not_supported");
  },
);
