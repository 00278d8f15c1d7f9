import assert from "node:assert/strict";
import { CatalogueError, findCost } from "./catalogue.ts";
import { amountText, inUnit, timesFactor } from "./decimals.ts";
import { readLitellm } from "./read_litellm.ts";
import { readModelsDev } from "./read_models_dev.ts";

const perMillion = { unit: "1M tokens" };

Deno.test("LiteLLM's costs per token become ours per million, to the last digit", () => {
  const chat = { mode: "chat", input_cost_per_token: 1.5e-7, output_cost_per_token: 6e-7 };
  const cases: [fields: Record<string, unknown>, cost: unknown][] = [
    [chat, { input_price: "0.15", output_price: "0.60", ...perMillion }],
    [
      {
        ...chat,
        cache_read_input_token_cost: 7.5e-8,
        cache_creation_input_token_cost: 3.75e-6,
        cache_creation_input_token_cost_above_1hr: 6e-6,
        output_cost_per_reasoning_token: 0.000002,
        input_cost_per_audio_token: 1e-5,
        output_cost_per_audio_token: 2.2e-5,
      },
      {
        input_price: "0.15",
        output_price: "0.60",
        cached_input_price: "0.075",
        cache_write_price: "3.75",
        cache_write_1h_price: "6.00",
        reasoning_price: "2.00",
        audio_input_price: "10.00",
        audio_output_price: "22.00",
        ...perMillion,
      },
    ],
    [
      {
        ...chat,
        input_cost_per_token_above_272k_tokens: 5e-6,
        input_cost_per_token_above_128k_tokens: 3e-7,
        output_cost_per_token_above_128k_tokens: 1.2e-6,
      },
      {
        input_price: "0.15",
        output_price: "0.60",
        ...perMillion,
        tiers: [
          { above_input_tokens: 128_000, input_price: "0.30", output_price: "1.20" },
          { above_input_tokens: 272_000, input_price: "5.00" },
        ],
      },
    ],
    // All amounts doubled is a factor; amounts that are not all known stay amounts.
    [
      {
        ...chat,
        input_cost_per_token_priority: 3e-7,
        output_cost_per_token_priority: 1.2e-6,
        input_cost_per_token_flex: 7.5e-8,
      },
      {
        input_price: "0.15",
        output_price: "0.60",
        ...perMillion,
        service_tiers: { priority: { multiplier: "2" }, flex: { input_price: "0.075" } },
      },
    ],
    [
      {
        ...chat,
        search_context_cost_per_query: {
          search_context_size_low: 0.01,
          search_context_size_high: 0.025,
        },
      },
      {
        input_price: "0.15",
        output_price: "0.60",
        ...perMillion,
        fees: { web_search: "0.025" },
      },
    ],
    [{ mode: "embedding", input_cost_per_token: 2e-8 }, { input_price: "0.02", ...perMillion }],
    [{ mode: "image_generation", output_cost_per_image: 0.04 }, { price: "0.04", unit: "image" }],
    [{ output_cost_per_video_per_second: 0.05 }, { price: "0.05", unit: "second" }],
    [{ input_cost_per_character: 1.5e-5 }, { price: "15.00", unit: "1M characters" }],
  ];
  for (const [fields, cost] of cases) {
    const text = JSON.stringify({ m: { litellm_provider: "openai", ...fields } });
    assert.deepEqual(findCost(readLitellm(text), ["openai"], "m"), cost);
  }
});

Deno.test("a model is found by the provider's id or adapter, whatever the catalogue calls it", () => {
  const cost = { input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 };
  const catalogue = readLitellm(JSON.stringify({
    sample_spec: { litellm_provider: "one of openai, anthropic", mode: "chat" },
    "gpt-4o": { litellm_provider: "openai", ...cost },
    "groq/openai/gpt-oss-20b": { litellm_provider: "groq", ...cost },
    "fal_ai/fal-ai/flux/schnell": { litellm_provider: "fal_ai", output_cost_per_image: 0.003 },
    "runwayml/gen4_turbo": { litellm_provider: "runwayml", output_cost_per_second: 0.05 },
  }));
  const isFound = (providers: string[], model: string) =>
    findCost(catalogue, providers, model) !== null;
  assert.ok(isFound(["openai"], "gpt-4o"));
  assert.ok(isFound(["my-openai", "openai"], "gpt-4o"));
  assert.ok(isFound(["groq", "openai_compatible"], "openai/gpt-oss-20b"));
  assert.ok(isFound(["fal"], "fal-ai/flux/schnell"));
  assert.ok(isFound(["runway"], "gen4_turbo"));
  // The same model costs something else at another provider.
  assert.ok(!isFound(["azure"], "gpt-4o"));
  assert.ok(!isFound(["openai"], "gpt-4"));
});

Deno.test("models.dev has costs per million tokens, by provider and model", () => {
  const catalogue = readModelsDev(JSON.stringify({
    google: {
      id: "google",
      models: {
        "gemini-2.5-pro": {
          cost: {
            input: 1.25,
            output: 10,
            cache_read: 0.125,
            input_audio: 1.5,
            context_over_200k: { input: 2.5, output: 15 },
          },
          limit: { context: 1048576, output: 65536 },
        },
        "gemma": { id: "gemma" },
      },
    },
    anthropic: { models: { "claude": { cost: { input: 3, output: 15, cache_write: 3.75 } } } },
  }));
  assert.deepEqual(findCost(catalogue, ["gemini"], "gemini-2.5-pro"), {
    input_price: "1.25",
    output_price: "10.00",
    cached_input_price: "0.125",
    audio_input_price: "1.50",
    ...perMillion,
    tiers: [{ above_input_tokens: 200_000, input_price: "2.50", output_price: "15.00" }],
  });
  assert.equal(findCost(catalogue, ["anthropic"], "claude")?.cache_write_price, "3.75");
  assert.equal(findCost(catalogue, ["gemini"], "gemma"), null);
});

Deno.test("a file that is no catalogue is refused with the reason", () => {
  const cases: [text: string, reason: RegExp][] = [
    ["", /^The file is not JSON: /],
    ["[1]", /^The file is not a JSON object\.$/],
    ["{}", /has no/],
    ['{"a": 1, "b": {"models": 3}}', /has no/],
  ];
  for (const [text, message] of cases) {
    assert.throws(() => readLitellm(text), { name: CatalogueError.name, message });
    assert.throws(() => readModelsDev(text), { name: CatalogueError.name, message });
  }
});

Deno.test("amounts keep the digits that were written, and markups round up at the twelfth", () => {
  assert.equal(amountText(1.1e-7, 6), "0.11");
  // More decimals than a price can have: no guess.
  assert.equal(amountText(0.1 + 0.2), null);
  assert.equal(amountText(0), "0.00");
  assert.equal(amountText(15, 6), "15000000.00");
  assert.equal(amountText(-1), null);
  assert.equal(amountText("1"), null);
  assert.equal(amountText(Infinity), null);
  assert.equal(timesFactor("0.15", "1.25"), "0.1875");
  assert.equal(timesFactor("0.000000000001", "1.1"), "0.000000000002");
  assert.equal(inUnit("0.15", 1_000_000n, 1_000n), "0.00015");
});
