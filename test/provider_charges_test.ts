/**
 * What documented answers of each provider are charged and cost under the shipped prices, worked out by hand to
 * the last digit. Amounts are in units of 10⁻¹²: nothing is rounded.
 */
import assert from "node:assert/strict";
import { openAdapters } from "../providers/registry.ts";
import { costAttribution } from "../src/domain/pricing/cost_attribution.ts";
import { priceOf } from "../src/domain/pricing/price.ts";
import { formatDecimal, type Fraction, roundHalfUp, SCALE } from "../src/lib/money.ts";
import { chatUsage, type ReportedUsage } from "../src/model_types/chat.ts";
import { mediaDefinitionOf } from "../src/model_types/model_types.ts";
import type { PriceTerms } from "../src/model_types/price_terms.ts";
import type { Usage } from "../src/model_types/usage.ts";
import type { Upstream, UpstreamCost } from "../src/platform/config/config.ts";
import { perMillion, price } from "./helpers/prices.ts";

type Terms = PriceTerms;

interface ChatCase {
  readonly name: string;
  readonly provider: string;
  readonly body: unknown;
  readonly asked?: { readonly serviceTier?: string };
  readonly price: Terms;
  readonly cost: Terms;
  readonly charge: string;
  readonly costs: string | null;
}

const openAi = (usage: unknown, more: object = {}) => ({
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  usage,
  ...more,
});
const anthropic = (usage: unknown) => ({
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  usage,
});
const gemini = (usageMetadata: unknown, more: object = {}) => ({
  candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP", ...more }],
  usageMetadata,
});

const GPT_COST: Terms = {
  ...{ input_price: "2.5", output_price: "15", cached_input_price: "0.25" },
  tiers: [{
    ...{ above_input_tokens: 272_000, input_price: "5", output_price: "22.5" },
    cached_input_price: "0.5",
  }],
  service_tiers: { priority: { multiplier: "2" } },
};
const GPT_PRICE: Terms = {
  ...{ input_price: "3", output_price: "18", cached_input_price: "0.3" },
  tiers: [{
    ...{ above_input_tokens: 272_000, input_price: "6", output_price: "27" },
    cached_input_price: "0.6",
  }],
  service_tiers: { priority: { multiplier: "2" } },
};
const CLAUDE_COST: Terms = {
  ...{ input_price: "3", output_price: "15", cached_input_price: "0.3" },
  ...{ cache_write_price: "3.75", cache_write_1h_price: "6" },
  fees: { web_search: "0.01" },
};
const CLAUDE_PRICE: Terms = {
  ...{ input_price: "3.6", output_price: "18", cached_input_price: "0.36" },
  ...{ cache_write_price: "4.5", cache_write_1h_price: "7.2" },
  fees: { web_search: "0.012" },
};
const GEMINI_COST: Terms = {
  ...{ input_price: "0.3", output_price: "2.5", cached_input_price: "0.03" },
  audio_input_price: "1",
};
const GEMINI_PRICE: Terms = {
  ...{ input_price: "0.36", output_price: "3", cached_input_price: "0.036" },
  audio_input_price: "1.2",
};
const PLAIN_COST: Terms = { input_price: "0.15", output_price: "0.6", cached_input_price: "0.075" };
const PLAIN_PRICE: Terms = { input_price: "0.2", output_price: "0.8", cached_input_price: "0.1" };

/** 2,006 − 1,920 = 86 tokens are not cached. */
const OPENAI_CACHED = {
  ...{ prompt_tokens: 2006, completion_tokens: 300, total_tokens: 2306 },
  prompt_tokens_details: { cached_tokens: 1920, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 128, audio_tokens: 0 },
};

const CHATS: readonly ChatCase[] = [
  // 86 × 3 + 1,920 × 0.3 + 300 × 18; 86 × 2.5 + 1,920 × 0.25 + 300 × 15
  ...["openai", "azure_openai"].map((provider): ChatCase => ({
    ...{ name: "a prompt that was cached in part", provider, body: openAi(OPENAI_CACHED) },
    ...{ price: GPT_PRICE, cost: GPT_COST, charge: "0.006234", costs: "0.005195" },
  })),
  // Twice that.
  {
    ...{ name: "the same at priority", provider: "openai", asked: { serviceTier: "priority" } },
    body: openAi(OPENAI_CACHED, { service_tier: "priority" }),
    ...{ price: GPT_PRICE, cost: GPT_COST, charge: "0.012468", costs: "0.01039" },
  },
  // 300,000 × 6 + 1,000 × 27; 300,000 × 5 + 1,000 × 22.5
  {
    ...{ name: "a prompt above the first tier", provider: "openai" },
    body: openAi({ prompt_tokens: 300_000, completion_tokens: 1000 }),
    ...{ price: GPT_PRICE, cost: GPT_COST, charge: "1.827", costs: "1.5225" },
  },
  // 2,048 × 3.6 + 1,800 × 0.36 + 456 × 4.5 + 100 × 7.2 + 503 × 18
  // 2,048 × 3 + 1,800 × 0.3 + 456 × 3.75 + 100 × 6 + 503 × 15
  {
    ...{ name: "a prompt with cache reads and writes of both kinds", provider: "anthropic" },
    body: anthropic({
      ...{ input_tokens: 2048, cache_read_input_tokens: 1800, cache_creation_input_tokens: 556 },
      cache_creation: { ephemeral_5m_input_tokens: 456, ephemeral_1h_input_tokens: 100 },
      output_tokens: 503,
    }),
    ...{ price: CLAUDE_PRICE, cost: CLAUDE_COST, charge: "0.0198468", costs: "0.016539" },
  },
  // 105 × 3.6 + 6,039 × 18 + 1 × 0.012; 105 × 3 + 6,039 × 15 + 0.01
  {
    ...{ name: "an answer with a web search", provider: "anthropic" },
    body: anthropic({
      ...{ input_tokens: 105, output_tokens: 6039 },
      server_tool_use: { web_search_requests: 1 },
    }),
    ...{ price: CLAUDE_PRICE, cost: CLAUDE_COST, charge: "0.12108", costs: "0.1009" },
  },
  // Input 1,000: 600 cached, 200 audio, 200 text; output 80 and 40 of thinking.
  // 200 × 0.36 + 600 × 0.036 + 200 × 1.2 + 120 × 3; 200 × 0.3 + 600 × 0.03 + 200 × 1 + 120 × 2.5
  {
    ...{ name: "text and audio, cached in part, with thinking", provider: "gemini" },
    body: gemini({
      ...{ promptTokenCount: 1000, cachedContentTokenCount: 600 },
      ...{ candidatesTokenCount: 80, thoughtsTokenCount: 40, totalTokenCount: 1120 },
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 700 },
        { modality: "AUDIO", tokenCount: 300 },
      ],
      cacheTokensDetails: [
        { modality: "TEXT", tokenCount: 500 },
        { modality: "AUDIO", tokenCount: 100 },
      ],
    }),
    ...{ price: GEMINI_PRICE, cost: GEMINI_COST, charge: "0.0006936", costs: "0.000578" },
  },
  // 10,318 cached, 15 written, 6 others.
  // 6 × 3.6 + 10,318 × 0.36 + 15 × 4.5 + 60 × 18; 6 × 3 + 10,318 × 0.3 + 15 × 3.75 + 60 × 15
  {
    ...{ name: "a cached prompt of another provider's model", provider: "openrouter" },
    body: openAi({
      ...{ prompt_tokens: 10_339, completion_tokens: 60, total_tokens: 10_399 },
      prompt_tokens_details: { cached_tokens: 10_318, cache_write_tokens: 15, audio_tokens: 0 },
    }),
    ...{ price: CLAUDE_PRICE, cost: CLAUDE_COST, charge: "0.00488358", costs: "0.00406965" },
  },
  // 300 missed and 700 hit the cache: 300 × 0.2 + 700 × 0.1 + 50 × 0.8; 300 × 0.15 + 700 × 0.075 + 50 × 0.6
  {
    ...{ name: "a prompt that hit the cache on disk", provider: "deepseek" },
    body: openAi({
      ...{ prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 },
      ...{ prompt_cache_hit_tokens: 700, prompt_cache_miss_tokens: 300 },
    }),
    ...{ price: PLAIN_PRICE, cost: PLAIN_COST, charge: "0.00017", costs: "0.0001275" },
  },
  // The usage is in Groq's own field: 24 × 0.2 + 377 × 0.8; 24 × 0.15 + 377 × 0.6
  {
    ...{ name: "usage in a field of its own", provider: "groq" },
    body: openAi(undefined, { x_groq: { usage: { prompt_tokens: 24, completion_tokens: 377 } } }),
    ...{ price: PLAIN_PRICE, cost: PLAIN_COST, charge: "0.0003064", costs: "0.0002298" },
  },
  // A tier whose cost is not declared: the base price to the client, an unknown cost to us.
  {
    ...{ name: "a tier that is not declared", provider: "groq" },
    body: openAi({ prompt_tokens: 24, completion_tokens: 377 }, { service_tier: "performance" }),
    ...{ price: PLAIN_PRICE, cost: PLAIN_COST, charge: "0.0003064", costs: null },
  },
  // 26 × 0.2 + 298 × 0.8; 26 × 0.15 + 298 × 0.6
  ...["ollama", "vllm", "llama_cpp", "openai_compatible"].map((provider): ChatCase => ({
    ...{ name: "an answer of a server of one's own", provider },
    body: openAi({ prompt_tokens: 26, completion_tokens: 298, total_tokens: 324 }),
    ...{ price: PLAIN_PRICE, cost: PLAIN_COST, charge: "0.0002436", costs: "0.0001827" },
  })),
];

const exact = (amount: Fraction) => formatDecimal(roundHalfUp(amount, SCALE), 0);
const upstream = (cost: UpstreamCost) =>
  ({ provider: "p", model: "m", cost }) as unknown as Upstream;

function costOf(cost: UpstreamCost, usage: Usage): string | null {
  const attributed = costAttribution(upstream(cost), usage).cost;
  return attributed === null ? null : exact(attributed);
}

for (const { name, provider, body, asked, price, cost, charge, costs } of CHATS) {
  Deno.test(`${provider}: ${name} is charged and costs this much`, () => {
    const tokens = openAdapters().get(provider)!.chat!.read({ body }).usage as ReportedUsage;
    const usage = chatUsage({ tokens, isEstimated: false }, asked);
    assert.equal(exact(priceOf(perMillion(price), usage)), charge);
    const served = { ...usage, service_tier: tokens.serviceTier };
    assert.equal(costOf({ ...cost, unit: "1M tokens" }, served), costs);
  });
}

Deno.test("every adapter for chats has an example", () => {
  const shown = new Set(CHATS.map(({ provider }) => provider));
  const chats = [...openAdapters()].filter(([, { types }]) => types.includes("chat"));
  // The simulator is not a provider, and charges nothing.
  const missing = chats.map(([name]) => name).filter((name) => !shown.has(name));
  assert.deepEqual(missing, ["simulator"]);
});

interface MediaCase {
  readonly name: string;
  readonly type: "image" | "video" | "avatar" | "speech";
  readonly unit: string;
  readonly prompt?: string;
  readonly parameters: Readonly<Record<string, string | number>>;
  readonly made: {
    readonly outputs: { readonly duration?: number }[];
    readonly durationMs?: number;
  };
  readonly price: Terms;
  readonly cost: Terms;
  readonly charge: string;
  readonly costs: string;
}

const MEDIA: readonly MediaCase[] = [
  // 3 × 0.2; 3 × 0.167
  {
    ...{ name: "openai: three images of high quality", type: "image", unit: "image" },
    parameters: { n: 3, size: "1024x1024", quality: "high" },
    made: { outputs: [{}, {}, {}] },
    price: { price: "0.075", variants: [{ when: { quality: "high" }, price: "0.2" }] },
    cost: { price: "0.063", variants: [{ when: { quality: "high" }, price: "0.167" }] },
    ...{ charge: "0.6", costs: "0.501" },
  },
  // Two of four came: 2 × 0.004; 2 × 0.003
  {
    ...{ name: "replicate: two of four images", type: "image", unit: "image" },
    ...{ parameters: { n: 4, size: "1024x1024" }, made: { outputs: [{}, {}] } },
    ...{ price: { price: "0.004" }, cost: { price: "0.003" }, charge: "0.008", costs: "0.006" },
  },
  // 8 × 0.48; 8 × 0.4
  {
    ...{ name: "fal: a video in full HD", type: "video", unit: "second" },
    parameters: { duration: 8, resolution: "1080p", aspect_ratio: "16:9" },
    made: { outputs: [{ duration: 8 }] },
    price: { price: "0.24", variants: [{ when: { resolution: "1080p" }, price: "0.48" }] },
    cost: { price: "0.2", variants: [{ when: { resolution: ["1080p"] }, price: "0.4" }] },
    ...{ charge: "3.84", costs: "3.2" },
  },
  // The provider reports 5.041 seconds, of which 5 were asked for: 5 × 0.07; 5 × 0.056
  {
    ...{ name: "fal: a video that is a little longer", type: "video", unit: "second" },
    ...{ parameters: { duration: 5 }, made: { outputs: [{}], durationMs: 5041 } },
    ...{ price: { price: "0.07" }, cost: { price: "0.056" }, charge: "0.35", costs: "0.28" },
  },
  // 10 × 0.06; 10 × 0.05
  {
    ...{ name: "runway: ten seconds of video", type: "video", unit: "second" },
    ...{ parameters: { duration: 10 }, made: { outputs: [{ duration: 10.01 }] } },
    ...{ price: { price: "0.06" }, cost: { price: "0.05" }, charge: "0.6", costs: "0.5" },
  },
  // 12.34 × 0.03; 12.34 × 0.02
  {
    ...{ name: "heygen: an avatar that speaks", type: "avatar", unit: "second" },
    ...{ parameters: { seconds_max: 13 }, made: { outputs: [{}], durationMs: 12_340 } },
    ...{ price: { price: "0.03" }, cost: { price: "0.02" }, charge: "0.3702", costs: "0.2468" },
  },
  // 11 characters: 11 × 0.12 / 1,000; 11 × 0.1 / 1,000
  {
    ...{ name: "elevenlabs: a sentence", type: "speech", unit: "1K characters" },
    prompt: "Hello there",
    parameters: { voice: "rachel", response_format: "mp3", seconds_max: 9 },
    made: { outputs: [{ duration: 1 }] },
    ...{ price: { price: "0.12" }, cost: { price: "0.1" }, charge: "0.00132", costs: "0.0011" },
  },
];

for (const { name, type, unit, prompt = null, parameters, made, ...amounts } of MEDIA) {
  Deno.test(`${name} is charged and costs this much`, () => {
    const { usage } = mediaDefinitionOf(type).meter({ prompt, parameters, inputs: [] }, {
      outputs: made.outputs,
      reported: made.durationMs === undefined ? null : { durationMs: made.durationMs },
    });
    const billing = unit === "second" ? "duration" : "per_call";
    assert.equal(exact(priceOf(price(billing, unit, amounts.price), usage)), amounts.charge);
    assert.equal(costOf({ ...amounts.cost, unit }, usage), amounts.costs);
  });
}
