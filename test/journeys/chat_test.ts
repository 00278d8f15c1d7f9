import assert from "node:assert/strict";
import { openSimulator } from "../../providers/simulator/simulator.ts";
import { eventsOf, type Json, openChatGateway } from "../helpers/chat_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";
import { statusOf } from "../helpers/status_of.ts";

Deno.test("POST /v1/chat/completions answers 200 in OpenAI's shape, with our id and model, and takes the price", async () => {
  await using gateway = await openChatGateway({ cash: "100" });
  const res = await gateway.chat("talk", "Hello there", { max_tokens: 20 });
  assert.equal(res.status, 200);
  const body = await res.json();
  assert.match(body.id, /^chatcmpl-/);
  assert.equal(body.object, "chat.completion");
  assert.equal(body.model, "talk");
  assert.equal(body.choices[0].message.role, "assistant");
  assert.equal(body.choices[0].finish_reason, "length");
  assert.equal(body.usage.completion_tokens, 20);
  assert.deepEqual(Object.keys(body), [
    ...["id", "object", "created", "model", "system_fingerprint", "choices", "usage"],
  ]);
  assert.match(body.system_fingerprint, /^fp_[0-9a-f]{12}$/);
  const receipt = await gateway.receipt(res);
  const { prompt_tokens } = body.usage;
  assert.equal(receipt.status, "settled");
  assert.equal(Number(receipt.settled), (prompt_tokens + 2 * 20) / 1000);
  assert.deepEqual(receipt.usage, {
    input_tokens: prompt_tokens,
    cached_input_tokens: 0,
    output_tokens: 20,
    reasoning_tokens: 0,
    calls: 1,
  });
  assert.equal((await gateway.balance()).frozen, "0.00");
  await gateway.verify();
});

Deno.test("POST /v1/chat/completions streams chunks that end in [DONE], and shows usage only when asked", async () => {
  await using gateway = await openChatGateway();
  const plain = await gateway.chat("talk", "Hello", { stream: true, max_tokens: 5 });
  assert.equal(plain.headers.get("content-type"), "text/event-stream; charset=utf-8");
  const events = await eventsOf(plain);
  assert.equal(events.at(-1), "[DONE]");
  assert.ok(events.slice(0, -1).every((event) => !("usage" in event) && event.choices.length > 0));
  assert.equal(
    events.slice(0, -1).map((event) => event.choices[0].delta.content ?? "").join("").split(" ")
      .length,
    5,
  );
  assert.equal(events.at(-2).choices[0].finish_reason, "length");
  const receipt = await gateway.receipt(plain);
  assert.equal(receipt.usage.output_tokens, 5, "metered all the same");
  assert.equal(receipt.status, "settled", "before [DONE] was sent");

  const asked = await eventsOf(
    await gateway.chat("talk", "Hello", {
      stream: true,
      max_tokens: 5,
      stream_options: { include_usage: true },
    }),
  );
  assert.deepEqual(asked.at(-2).choices, []);
  assert.equal(asked.at(-2).usage.completion_tokens, 5);
  assert.ok(asked.slice(0, -2).every((event) => event.usage === null));
  await gateway.verify();
});

Deno.test("tools, JSON schema, reasoning, n and stop pass through", async () => {
  await using gateway = await openChatGateway();
  const tools = ["weather", "time"].map((name) => ({
    type: "function",
    function: {
      name,
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  }));
  const called = await (await gateway.chat("talk", "Use weather and time", { tools })).json();
  assert.equal(called.choices[0].finish_reason, "tool_calls");
  assert.deepEqual(
    called.choices[0].message.tool_calls.map((call: Json) => call.function.name).sort(),
    ["time", "weather"],
  );
  assert.equal(
    typeof JSON.parse(called.choices[0].message.tool_calls[0].function.arguments).city,
    "string",
  );

  const schema = {
    type: "object",
    properties: { name: { type: "string" }, age: { type: "integer" } },
    required: ["name", "age"],
    additionalProperties: false,
  };
  const json = await (await gateway.chat("talk", "A person", {
    response_format: { type: "json_schema", json_schema: { name: "p", schema, strict: true } },
  })).json();
  const person = JSON.parse(json.choices[0].message.content);
  assert.equal(typeof person.name, "string");
  assert.ok(Number.isInteger(person.age));

  const thought = await gateway.chat("think", "Think hard", { reasoning_effort: "high" });
  const { choices, usage } = await thought.json();
  assert.ok(choices[0].message.reasoning_content.length > 0);
  const { reasoning_tokens } = usage.completion_tokens_details;
  assert.ok(reasoning_tokens > 0);
  const receipt = await gateway.receipt(thought);
  assert.equal(receipt.usage.reasoning_tokens, reasoning_tokens);
  assert.equal(
    receipt.usage.output_tokens,
    usage.completion_tokens - reasoning_tokens,
    "buckets do not overlap",
  );

  const two = await (await gateway.chat("talk", "Twice", { n: 2, max_tokens: 3 })).json();
  assert.deepEqual(two.choices.map(({ index }: { index: number }) => index), [0, 1]);
  assert.equal(two.usage.completion_tokens, 6);
  await gateway.verify();
});

Deno.test("400 for what the model does not declare, and nothing is held", async () => {
  await using gateway = await openChatGateway();
  const image = [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }];
  for (
    const [model, more, code, param] of [
      ["plain", { stream: true }, "capability_not_supported", "stream"],
      [
        "plain",
        { tools: [{ type: "function", function: { name: "x" } }] },
        "capability_not_supported",
        "tools",
      ],
      [
        "plain",
        { response_format: { type: "json_object" } },
        "capability_not_supported",
        "response_format",
      ],
      ["plain", { reasoning_effort: "low" }, "capability_not_supported", "reasoning_effort"],
      [
        "plain",
        { messages: [{ role: "user", content: image }] },
        "capability_not_supported",
        "messages",
      ],
      ["plain", { service_tier: "priority" }, "invalid_value", "service_tier"],
      ["plain", { web_search_options: {} }, "invalid_value", "web_search_options"],
      ["plain", { store: true }, "invalid_value", "store"],
      ["plain", { prompt_cache_retention: "24h" }, "invalid_value", "prompt_cache_retention"],
      ["plain", { prompt_cache_options: {} }, "invalid_value", "prompt_cache_options"],
      [
        "talk",
        { messages: [{ role: "user", content: [...image, ...image, ...image] }] },
        "invalid_value",
        "messages",
      ],
      [
        "talk",
        { messages: [{ role: "user", content: "x".repeat(5001) }] },
        "prompt_too_long",
        "messages",
      ],
      ["talk", { messages: [] }, "invalid_value", "messages"],
      ["talk", { messages: "hi" }, "invalid_value", "messages"],
      [
        "talk",
        { messages: [{ role: "wizard", content: "x" }] },
        "invalid_value",
        "messages.0.role",
      ],
      ["talk", { modalities: ["text", "audio"] }, "capability_not_supported", "modalities"],
      ["talk", { audio: { voice: "a", format: "wav" } }, "capability_not_supported", "audio"],
      ...["user", "system", "developer", "tool", "assistant"].map((role) =>
        [
          "talk",
          { messages: [{ role: "user", content: "x" }, { role, tool_call_id: "t" }] },
          "missing_field",
          "messages.1.content",
        ] as const
      ),
      [
        "talk",
        { messages: [{ role: "user", content: null }] },
        "missing_field",
        "messages.0.content",
      ],
      ["talk", { temperature: 3 }, "invalid_value", "temperature"],
      ["talk", { n: 0 }, "invalid_value", "n"],
      ["talk", { n: 1e99 }, "invalid_value", "n"],
      ["talk", { max_tokens: -5 }, "invalid_value", "max_tokens"],
      ["nothing", {}, "model_unavailable", "model"],
    ] as const
  ) {
    const res = await gateway.chat(model, "hi", more);
    const error = await errorOf(res);
    assert.equal(res.status, code === "model_unavailable" ? 404 : 400, JSON.stringify(error));
    assert.equal(error.code, code, JSON.stringify([model, more]));
    assert.equal(error.param, param, JSON.stringify([model, more]));
  }
  const list = await (await gateway.get("/v1/usage")).json();
  assert.deepEqual(list.data, []);
});

Deno.test("a param that an upstream named is spelled like ours", async () => {
  await using gateway = await openChatGateway();
  const messages = [
    { role: "user", content: "x" },
    { role: "tool", content: "x", tool_call_id: "call_missing" },
  ];
  for (
    const [more, param] of [
      // The simulator, as OpenAI, writes `messages.[1].role` and `messages[0].content[0].text`.
      [{ messages }, "messages.1.role"],
      [
        { messages: [{ role: "user", content: [{ type: "refusal" }] }] },
        "messages.0.content.0.refusal",
      ],
    ] as const
  ) {
    const res = await gateway.chat("talk", "", more);
    assert.equal(res.status, 400);
    const error = await errorOf(res);
    assert.deepEqual([error.code, error.param], ["invalid_value", param]);
    assert.ok(error.message.includes(param), error.message);
  }
});

Deno.test("400 for parts that no model supports and for images that only our network could fetch", async () => {
  await using gateway = await openChatGateway();
  const ask = async (part: unknown) => {
    const res = await gateway.chat("talk", "", { messages: [{ role: "user", content: [part] }] });
    return res.status === 200 ? (await res.text(), "ok") : (await errorOf(res)).code;
  };
  const image = (url: unknown) => ({ type: "image_url", image_url: { url } });
  for (
    const url of [
      "http://example.com/a.png",
      "https://127.0.0.1/a",
      "https://[::1]/a",
      "https://localhost/a",
      "https://u@example.com/a",
      "https://example.com:8443/a",
      "file:///etc/passwd",
      `https://example.com/${"a".repeat(2048)}`,
    ]
  ) {
    assert.equal(await ask(image(url)), "unsafe_url", String(url).slice(0, 60));
  }
  assert.equal(await ask(image(7)), "invalid_value");
  assert.equal(await ask(image("https://example.com/a.png")), "ok");
  assert.equal(await ask(image("data:image/png;base64,iVBORw0KGgo=")), "ok");
  assert.equal(
    await ask({ type: "input_audio", input_audio: { data: "", format: "wav" } }),
    "capability_not_supported",
  );
  assert.equal(await ask({ type: "file", file: { file_id: "f" } }), "capability_not_supported");
});

Deno.test("402 when the balance does not cover the worst case, and the upstream is not called", async () => {
  const simulator = openSimulator();
  await using gateway = await openChatGateway({ cash: "0.01", simulator });
  const res = await gateway.chat("talk", "Hello", { max_tokens: 1000 });
  assert.equal(res.status, 402);
  const error = await errorOf(res);
  assert.equal(error.type, "insufficient_quota");
  assert.equal(error.code, "insufficient_balance");
  assert.equal(simulator.counters.started, 0);
  assert.deepEqual(await gateway.balance(), { available: "0.01", frozen: "0.00" });
});

Deno.test("50 calls at once against money for 10: exactly 10 are served, 40 get 402, the books are in order", async () => {
  await using gateway = await openChatGateway({ cash: "10" });
  const statuses = await Promise.all(Array.from({ length: 50 }, async (_, at) => {
    const res = await gateway.chat(
      "by-call",
      `Call ${at} [[simulate: latency=200ms]]`,
      at % 2 === 0 ? { stream: true } : {},
    );
    await res.text();
    return res.status;
  }));
  assert.equal(statuses.filter((status) => status === 200).length, 10);
  assert.equal(statuses.filter((status) => status === 402).length, 40);
  assert.deepEqual(await gateway.balance(), { available: "0.00", frozen: "0.00" });
  await gateway.verify();
});

Deno.test("an answer without usage is counted by the gateway, and the receipt says so", async () => {
  await using gateway = await openChatGateway();
  for (const more of [{}, { stream: true }]) {
    const res = await gateway.chat("talk", "Hello [[simulate: no_usage tokens=40]]", more);
    await res.text();
    const { usage } = await gateway.receipt(res);
    assert.equal(usage.estimated, true);
    assert.ok(usage.output_tokens > 20 && usage.output_tokens < 120, JSON.stringify(usage));
    assert.ok(usage.input_tokens > 5, JSON.stringify(usage));
  }
});

Deno.test("cached prompt tokens are paid at their own price, once", async () => {
  await using gateway = await openChatGateway();
  const res = await gateway.chat("talk", "Hello [[simulate: cached=8 tokens=10]]");
  const { usage } = await res.json();
  assert.equal(usage.prompt_tokens_details.cached_tokens, 8);
  const receipt = await gateway.receipt(res);
  assert.equal(receipt.usage.cached_input_tokens, 8);
  assert.equal(receipt.usage.input_tokens, usage.prompt_tokens - 8);
  assert.equal(Number(receipt.settled), (usage.prompt_tokens - 8 + 4 + 20) / 1000);
});

Deno.test("429 when a key has used its tokens of the minute", async () => {
  await using gateway = await openChatGateway();
  const { key, account } = await gateway.newKey({ name: "few", plan: "few-tokens" });
  await statusOf(gateway.admin("POST", `/accounts/${account}/credits`, {
    kind: "cash",
    amount: "10",
    reference: "c",
  }));
  const call = () =>
    gateway.chat("talk", "Hello", { max_tokens: 150 }, {
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    });
  const first = await call();
  assert.equal(first.status, 200);
  await first.text();
  const second = await call();
  assert.equal(second.status, 429);
  assert.ok(Number(second.headers.get("retry-after")) >= 1);
  assert.match((await errorOf(second)).message, /tokens/);
});

Deno.test("tokens of a minute hold for many requests at once: the worst case is reserved, the rest given back", async () => {
  await using gateway = await openChatGateway();
  const { key, account } = await gateway.newKey({ name: "few", plan: "few-tokens" });
  await statusOf(gateway.admin("POST", `/accounts/${account}/credits`, {
    kind: "cash",
    amount: "10",
    reference: "c",
  }));
  const call = (tokens: number) =>
    gateway.chat("by-call", `Hi [[simulate: latency=200ms tokens=${tokens}]]`, { max_tokens: 20 }, {
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    });
  const statuses = await Promise.all(Array.from({ length: 10 }, async () => {
    const res = await call(20);
    await res.text();
    return res.status;
  }));
  assert.ok(statuses.filter((status) => status === 200).length <= 5, statuses.join());
  assert.ok(statuses.includes(429));
});
