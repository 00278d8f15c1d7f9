import assert from "node:assert/strict";
import type { ChatRequest, ChunkDelta, FinishReason } from "../../upstream/adapter.ts";
import { ChatMeter } from "./meter.ts";

const request: ChatRequest = {
  model: "m",
  messages: [{ role: "user", content: "Hello there, how are you today?" }],
};

function chunk(delta: ChunkDelta, finish_reason: FinishReason | null = null) {
  return { choices: [{ index: 0, delta, finish_reason }] };
}

Deno.test("what a provider counts in the middle holds for the prompt, and what has come since is counted", async () => {
  const meter = new ChatMeter(request);
  const started = { input: 700, cachedInput: 300, output: 1, reasoning: 0 };
  meter.add({ ...chunk({ role: "assistant" }), usage: started });
  for (let i = 0; i < 100; i++) meter.add(chunk({ content: "another word " }));
  const { tokens, isEstimated } = await meter.total();
  assert.deepEqual([tokens.input, tokens.cachedInput, isEstimated], [700, 300, true]);
  assert.ok(tokens.output >= 150, `${tokens.output}`);

  meter.add({ ...chunk({}, "stop"), usage: { ...started, output: 210 } });
  assert.deepEqual(await meter.total(), {
    tokens: { ...started, output: 210 },
    isEstimated: false,
  });
});

Deno.test("an estimate counts calls of tools and functions, thoughts, and images", async () => {
  const count = async (delta: ChunkDelta, imageTokens = 0) => {
    const meter = new ChatMeter(request);
    meter.imageTokens = imageTokens;
    meter.add(chunk(delta));
    return (await meter.total()).tokens;
  };
  const written = "some words that were written ".repeat(50);
  const silent = await count({});
  const calls = [{ index: 0, function: { name: "f", arguments: written } }];
  for (
    const delta of [
      { content: written },
      { reasoning_content: written },
      { tool_calls: calls },
      { function_call: { name: "f", arguments: written } },
    ]
  ) {
    assert.ok((await count(delta)).output > silent.output + 200, Object.keys(delta)[0]);
  }
  assert.equal((await count({}, 1600)).input, silent.input + 1600);
});

Deno.test("an estimate reads all of the prompt: history, tools, functions, schema, prediction", async () => {
  const long = "a long description of something ".repeat(50);
  const plain = (await new ChatMeter(request).total()).tokens.input;
  for (
    const more of [
      { tools: [{ type: "function", function: { name: "f", description: long } }] },
      { functions: [{ name: "f", description: long }] },
      { response_format: { type: "json_schema", json_schema: { schema: { description: long } } } },
      { prediction: { type: "content", content: long } },
      { messages: [{ role: "assistant", tool_calls: [{ function: { arguments: long } }] }] },
      { messages: [{ role: "assistant", content: [{ type: "refusal", refusal: long }] }] },
    ]
  ) {
    const { tokens } = await new ChatMeter({ ...request, ...more }).total();
    assert.ok(tokens.input > plain + 150, JSON.stringify(more).slice(0, 60));
  }
});

Deno.test("hidden reasoning is estimated by the time before the answer, shown reasoning by its words", async () => {
  const after = async (seconds: number, mayHideReasoning: boolean, thought?: string) => {
    let now = 0;
    const meter = new ChatMeter(request, { mayHideReasoning, now: () => now });
    if (thought !== undefined) meter.add(chunk({ reasoning_content: thought }));
    now = seconds * 1000;
    meter.add(chunk({ content: "Well" }));
    now += 60_000;
    return (await meter.total()).tokens.output;
  };
  const quick = await after(0.5, true);
  assert.equal(await after(0.5, false), quick);
  assert.equal(await after(61, false), quick);
  assert.equal(await after(61, true), quick + 60 * 50);
  assert.ok(await after(61, true, "hm") < quick + 10);
  const limited = new ChatMeter({ ...request, max_completion_tokens: 100 }, {
    mayHideReasoning: true,
    now: ((now) => () => now += 100_000)(0),
  });
  limited.add(chunk({ content: "Well" }));
  assert.equal((await limited.total()).tokens.output, 100, "no more than it may have written");
});
