import assert from "node:assert/strict";
import { eventsOf, type Json, openChatGateway } from "../helpers/chat_gateway.ts";
import { namedEvents, post } from "../helpers/dialects.ts";
import { type FakeUpstream, startFakeUpstream } from "../helpers/fake_upstream.ts";

/** The same upstream behind providers that take different parameters. */
const configFor = (address: string) => {
  const ids = ["openai", "openrouter", "vllm", "llama_cpp", "anthropic", "gemini"];
  const list = (line: (id: string) => string) => ids.map(line).join("\n");
  return `
providers:
${list((id) => `  ${id}: { adapter: ${id}, base_url: "${address}/v1", api_key: "\${NO_KEY:-k}" }`)}
models:
${
    list((id) =>
      `  - { id: ${id}, name: M, type: chat, capabilities: [chat, streaming${
        id === "anthropic" ? ", reasoning" : ""
      }], limits: { context_tokens: 9000, max_output_tokens: 8000 }, upstreams: [{ provider: ${id}, model: claude-sonnet-4-5 }] }`
    )
  }
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
${
    list((id) =>
      `      - { model: ${id}, billing_type: token, input_price: "1", output_price: "2", unit: 1M tokens }`
    )
  }
`;
};

const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const CITED = {
  type: "url_citation",
  url_citation: { url: "https://a.example", title: "A", start_index: 0, end_index: 3 },
};

const lastBody = ({ seen }: FakeUpstream): Json => JSON.parse(seen.at(-1)!.body);

function answerWith(upstream: FakeUpstream, model: string) {
  const message = { role: "assistant", content: "Yes." };
  const bodies: Record<string, unknown> = {
    anthropic: {
      content: [{ type: "text", text: "Yes." }],
      stop_reason: "end_turn",
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    gemini: {
      candidates: [{ content: { parts: [{ text: "Yes." }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
    },
  };
  const completion = { choices: [{ index: 0, message, finish_reason: "stop" }], usage: USAGE };
  upstream.answer({ status: 200, body: bodies[model] ?? completion });
}

Deno.test("parameters beyond OpenAI's reach the providers that take them; the header names the others", async () => {
  await using upstream = startFakeUpstream();
  await using gateway = await openChatGateway({ config: configFor(upstream.url) });
  const extras = { top_k: 40, min_p: 0.1, top_a: 0.2, repetition_penalty: 1.1 };
  const expected: readonly [model: string, sent: object, ignored: string][] = [
    ["openai", {}, "zebra, top_k, min_p, top_a, repetition_penalty"],
    ["openrouter", extras, "zebra"],
    ["vllm", { top_k: 40, min_p: 0.1, repetition_penalty: 1.1 }, "zebra, top_a"],
    ["llama_cpp", { top_k: 40, min_p: 0.1, repeat_penalty: 1.1 }, "zebra, top_a"],
    ["anthropic", { top_k: 40 }, "zebra, min_p, top_a, repetition_penalty"],
    ["gemini", { topK: 40 }, "zebra, min_p, top_a, repetition_penalty"],
  ];
  for (const [model, sent, ignored] of expected) {
    answerWith(upstream, model);
    const res = await gateway.chat(model, "Hi", { ...extras, zebra: 1 });
    assert.equal(res.status, 200, await res.text());
    assert.equal(res.headers.get("x-ignored-fields"), ignored, model);
    const body: Json = lastBody(upstream);
    const parameters = { ...body, ...body.generationConfig };
    for (const name of [...Object.keys(extras), "repeat_penalty", "topK", "zebra"]) {
      assert.equal(parameters[name], (sent as Json)[name], `${model}: ${name}`);
    }
  }
});

Deno.test("a plain request has no x-ignored-fields; one to Messages names what its upstream leaves out", async () => {
  await using upstream = startFakeUpstream();
  await using gateway = await openChatGateway({ config: configFor(upstream.url) });
  answerWith(upstream, "openai");
  const plain = await gateway.chat("openai", "Hi", { temperature: 1, user: null });
  await plain.body?.cancel();
  assert.equal(plain.headers.has("x-ignored-fields"), false);
  const messages = [{ role: "user", content: "Hi" }];
  const res = await post(gateway, "/messages", {
    ...{ model: "openai", max_tokens: 10, messages, top_k: 3, zebra: 1 },
    thinking: { type: "enabled", budget_tokens: 2000 },
  });
  await res.body?.cancel();
  assert.equal(res.headers.get("x-ignored-fields"), "zebra, thinking, top_k");
});

Deno.test("reasoning, thinking and usage in other providers' forms mean OpenAI's fields", async () => {
  await using upstream = startFakeUpstream();
  await using gateway = await openChatGateway({ config: configFor(upstream.url) });
  const cases: readonly [more: object, thinking: unknown, ignored: string | null][] = [
    [{ reasoning: { max_tokens: 2000 } }, { type: "enabled", budget_tokens: 2000 }, null],
    [
      { reasoning: { effort: "low", exclude: true } },
      { type: "enabled", budget_tokens: 1024 },
      "reasoning.exclude",
    ],
    [{ reasoning: { enabled: false } }, undefined, null],
    [{ thinking: { type: "enabled", budget_tokens: 1500 } }, {
      type: "enabled",
      budget_tokens: 1500,
    }, null],
    [{ reasoning: { effort: "high" }, reasoning_effort: "none" }, undefined, null],
  ];
  for (const [more, thinking, ignored] of cases) {
    answerWith(upstream, "anthropic");
    const res = await gateway.chat("anthropic", "Hi", { max_tokens: 4000, ...more });
    assert.equal(res.status, 200, await res.text());
    assert.deepEqual(lastBody(upstream).thinking, thinking, JSON.stringify(more));
    assert.equal(res.headers.get("x-ignored-fields"), ignored);
  }
  answerWith(upstream, "openai");
  const none = await gateway.chat("openai", "Hi", {
    ...{ reasoning: { effort: "high" }, provider: { order: ["a"] }, models: ["b"] },
  });
  assert.equal(none.status, 200, await none.text());
  assert.equal(none.headers.get("x-ignored-fields"), "provider, models, reasoning");
  const bad = await gateway.chat("openai", "Hi", { top_k: "many" });
  assert.equal((await bad.json()).error.param, "top_k");
});

Deno.test("usage.include shows the usage of a stream", async () => {
  await using gateway = await openChatGateway();
  const res = await gateway.chat("talk", "Hi", { stream: true, usage: { include: true } });
  const events = await eventsOf(res);
  assert.ok(events.at(-2).usage.total_tokens > 0);
  assert.match(events[0].system_fingerprint, /^fp_/);
});

Deno.test("max_tokens above the limit of the model is lowered to it, beside the prompt if the context is short", async () => {
  await using upstream = startFakeUpstream();
  await using gateway = await openChatGateway({ config: configFor(upstream.url) });
  const sent = async (max_tokens: number, content: string) => {
    answerWith(upstream, "openai");
    const res = await gateway.chat("openai", content, { max_tokens });
    assert.equal(res.status, 200, await res.text());
    return lastBody(upstream).max_completion_tokens;
  };
  assert.equal(await sent(32_000, "Hi"), 8000);
  assert.equal(await sent(700, "Hi"), 700);
  const beside = await sent(32_000, "word ".repeat(1000));
  assert.ok(beside >= 256 && beside < 7000, String(beside));
});

Deno.test("fields of a part that no provider knows are left out", async () => {
  await using upstream = startFakeUpstream();
  await using gateway = await openChatGateway({ config: configFor(upstream.url) });
  answerWith(upstream, "openai");
  const content = [{ type: "text", text: "Hi", zebra: 1 }];
  const res = await gateway.chat("openai", "", { messages: [{ role: "user", content }] });
  assert.equal(res.status, 200, await res.text());
  assert.deepEqual(lastBody(upstream).messages[0].content, [
    { type: "text", text: "Hi" },
  ]);
});

Deno.test("annotations are in a stream as in a whole answer, and are sources in Responses", async () => {
  await using upstream = startFakeUpstream();
  await using gateway = await openChatGateway({ config: configFor(upstream.url) });
  const message = { role: "assistant", content: "Yes.", annotations: [CITED] };
  const whole = { choices: [{ index: 0, message, finish_reason: "stop" }], usage: USAGE };
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    data: { choices: [{ index: 0, delta, finish_reason }] },
  });
  const events = [
    chunk({ role: "assistant", content: "Yes." }),
    chunk({ annotations: [{ ...CITED, secret: 1 }] }),
    chunk({}, "stop"),
    { data: { choices: [], usage: USAGE } },
    { data: "[DONE]" },
  ];

  upstream.answer({ status: 200, body: whole });
  const answer = await (await gateway.chat("openai", "Hi")).json();
  upstream.answer({ status: 200, events });
  const chunks = await eventsOf(await gateway.chat("openai", "Hi", { stream: true }));
  const streamed = chunks.flatMap((event) => event.choices?.[0]?.delta.annotations ?? []);
  assert.deepEqual(streamed, answer.choices[0].message.annotations);
  assert.deepEqual(streamed, [CITED]);

  const source = { type: CITED.type, ...CITED.url_citation };
  upstream.answer({ status: 200, body: whole });
  const response = await (await post(gateway, "/responses", { model: "openai", input: "Hi" }))
    .json();
  assert.deepEqual(response.output[0].content[0].annotations, [source]);
  upstream.answer({ status: 200, events });
  const named = namedEvents(
    await (await post(gateway, "/responses", { model: "openai", input: "Hi", stream: true }))
      .text(),
  );
  const added = named.find(({ type }) => type === "response.output_text.annotation.added");
  assert.deepEqual([added.annotation_index, added.annotation], [0, source]);
  assert.deepEqual(named.at(-1).response.output[0].content[0].annotations, [source]);
});
