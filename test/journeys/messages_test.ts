import assert from "node:assert/strict";
import { type ChatGateway, type Json, openChatGateway } from "../helpers/chat_gateway.ts";
import { namedEvents, post } from "../helpers/dialects.ts";

const hello = {
  max_tokens: 500,
  messages: [{ role: "user", content: "Say something about tides." }],
};
const WEATHER = {
  name: "weather",
  description: "The weather of a city.",
  input_schema: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
};

const send = (gateway: ChatGateway, body: object, headers?: Record<string, string>) =>
  post(gateway, "/messages", { model: "talk", ...body }, headers);

Deno.test("POST /v1/messages answers 200 in Anthropic's shape, and takes the price", async () => {
  await using gateway = await openChatGateway();
  const res = await send(gateway, { ...hello, system: "Be brief." });
  assert.equal(res.status, 200, await res.clone().text());
  const message: Json = await res.json();
  assert.match(message.id, /^msg_[0-9a-z]{26}$/);
  assert.deepEqual([message.type, message.role, message.model], ["message", "assistant", "talk"]);
  assert.equal(message.content[0].type, "text");
  assert.ok(message.content[0].text.length > 0);
  assert.equal(message.stop_reason, "end_turn");
  assert.equal(message.stop_sequence, null);
  assert.equal(res.headers.get("request-id"), res.headers.get("x-request-id"));
  const { usage } = await gateway.receipt(res);
  assert.equal(usage.output_tokens, message.usage.output_tokens);
  assert.equal(
    usage.input_tokens + (usage.cached_input_tokens ?? 0),
    message.usage.input_tokens + message.usage.cache_read_input_tokens,
  );
  await gateway.verify();
});

Deno.test("POST /v1/messages streams the events of a message, in order", async () => {
  await using gateway = await openChatGateway();
  const res = await send(gateway, { ...hello, stream: true });
  assert.equal(res.headers.get("content-type"), "text/event-stream; charset=utf-8");
  const events = namedEvents(await res.text());
  assert.deepEqual(events.slice(0, 3).map(({ type }) => type), [
    "message_start",
    "ping",
    "content_block_start",
  ]);
  assert.deepEqual(events.slice(-3).map(({ type }) => type), [
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  const deltas = events.filter(({ type }) => type === "content_block_delta");
  assert.ok(deltas.every(({ index, delta }) => index === 0 && delta.type === "text_delta"));
  const end = events.at(-2);
  assert.equal(end.delta.stop_reason, "end_turn");
  const { usage } = await gateway.receipt(res);
  assert.equal(end.usage.output_tokens, usage.output_tokens);
  assert.ok(end.usage.input_tokens > 0);
});

Deno.test("tools: a call with parsed input, streamed as input_json_delta, and its result understood", async () => {
  await using gateway = await openChatGateway();
  const asked = { role: "user", content: "Use weather for Oslo." };
  const first: Json =
    await (await send(gateway, { max_tokens: 100, messages: [asked], tools: [WEATHER] })).json();
  assert.equal(first.stop_reason, "tool_use");
  const call = first.content.at(-1);
  assert.equal(call.type, "tool_use");
  assert.equal(typeof call.input.city, "string");

  const streamed = await send(gateway, {
    ...{ max_tokens: 100, messages: [asked], tools: [WEATHER], stream: true },
    tool_choice: { type: "any", disable_parallel_tool_use: true },
  });
  const events = namedEvents(await streamed.text());
  const start = events.find(({ content_block: block }) => block?.type === "tool_use");
  assert.equal(start.content_block.name, "weather");
  const json = events.filter(({ index, delta }) =>
    index === start.index && delta?.type === "input_json_delta"
  ).map(({ delta }) => delta.partial_json).join("");
  assert.equal(typeof JSON.parse(json).city, "string");

  const second = await send(gateway, {
    max_tokens: 100,
    tools: [WEATHER],
    messages: [asked, { role: "assistant", content: first.content }, {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: call.id, content: "Rain" }],
    }],
  });
  assert.equal(second.status, 200, await second.clone().text());
  const answer: Json = await second.json();
  assert.match(answer.content[0].text, /Rain/);
});

Deno.test("reasoning is shown as thinking to clients that ask for it, and left out for others", async () => {
  await using gateway = await openChatGateway();
  const asked = { ...hello, model: "think", max_tokens: 500 };
  const quiet: Json = await (await send(gateway, asked)).json();
  assert.deepEqual(quiet.content.map(({ type }: Json) => type), ["text"]);
  const thinking = { type: "enabled", budget_tokens: 1024 };
  const shown: Json = await (await send(gateway, { ...asked, thinking })).json();
  assert.deepEqual(shown.content.map(({ type }: Json) => type), ["thinking", "text"]);
  assert.equal(shown.content[0].signature, "");
  const events = namedEvents(
    await (await send(gateway, { ...asked, thinking, stream: true })).text(),
  );
  const kinds = events.filter(({ type }) => type === "content_block_start")
    .map(({ content_block }) => content_block.type);
  assert.deepEqual(kinds, ["thinking", "text"]);
  // A model that does not reason answers without, and says so.
  const other = await send(gateway, { ...hello, thinking });
  assert.equal(other.status, 200);
  assert.equal(other.headers.get("x-ignored-fields"), "thinking");
  await other.body?.cancel();
});

Deno.test("output_config.format is a JSON schema that the answer fits", async () => {
  await using gateway = await openChatGateway();
  const schema = {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  };
  const message: Json = await (await send(gateway, {
    ...hello,
    max_tokens: 200,
    output_config: { format: { type: "json_schema", schema } },
  }))
    .json();
  assert.equal(typeof JSON.parse(message.content[0].text).city, "string");
});

Deno.test("x-api-key is taken instead of a bearer token; unknown fields are named, not refused", async () => {
  await using gateway = await openChatGateway();
  const res = await gateway.fetch("/v1/messages?beta=true", {
    method: "POST",
    headers: {
      "x-api-key": gateway.key,
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "interleaved-thinking-2025-05-14",
    },
    body: JSON.stringify({ model: "talk", ...hello, zebra: 1, context_management: { edits: [] } }),
  });
  assert.equal(res.status, 200, await res.clone().text());
  assert.equal(res.headers.get("x-ignored-fields"), "zebra, context_management");
  await res.body?.cancel();
});

Deno.test("count_tokens answers 200 with an estimate, and costs nothing", async () => {
  await using gateway = await openChatGateway();
  const res = await post(gateway, "/messages/count_tokens", { model: "talk", ...hello });
  assert.equal(res.status, 200, await res.clone().text());
  const { input_tokens } = await res.json();
  assert.ok(input_tokens > 3 && input_tokens < 50, String(input_tokens));
  assert.deepEqual(await gateway.balance(), { available: "100.00", frozen: "0.00" });
});

Deno.test("errors have Anthropic's shape and status: 400, 401, 402, 404, 405, 413, 429, 529, and in a stream", async () => {
  await using gateway = await openChatGateway({ cash: "0" });
  const check = async (res: Response, status: number, type: string, param?: string) => {
    const body: Json = await res.json();
    assert.deepEqual(
      [res.status, body.type, body.error.type],
      [status, "error", type],
      JSON.stringify(body),
    );
    assert.equal(body.request_id, res.headers.get("x-request-id"));
    assert.equal(res.headers.get("request-id"), body.request_id);
    if (param !== undefined) assert.equal(body.error.param, param);
  };
  await check(await send(gateway, hello), 402, "billing_error");
  await gateway.credit("100");
  await check(await gateway.fetch("/v1/messages", { method: "POST" }), 401, "authentication_error");
  await check(
    await send(gateway, hello, { authorization: "Bearer sk-no" }),
    401,
    "authentication_error",
  );
  await check(await send(gateway, { ...hello, model: "none" }), 404, "not_found_error", "model");
  await check(await gateway.get("/v1/messages/msg_1"), 404, "not_found_error");
  await check(await gateway.get("/v1/messages"), 405, "invalid_request_error");
  await check(await gateway.get(`/v1/messages?${"x".repeat(20_000)}`), 413, "request_too_large");
  await check(await send(gateway, { messages: [] }), 400, "invalid_request_error", "messages");
  await check(await send(gateway, { ...hello, model: "sick" }), 500, "api_error");
  await check(
    await send(gateway, { ...hello, model: "plain", stream: true }),
    400,
    "invalid_request_error",
  );
  const system = { system: "Be brief.", max_tokens: 5 };
  const image = { type: "image", source: { type: "url", url: "http://localhost/a.png" } };
  await check(
    await send(gateway, { ...system, messages: [{ role: "user", content: [image] }] }),
    400,
    "invalid_request_error",
    "messages.0",
  );
  for (
    const [more, param] of [
      [{ tools: [{ type: "web_search_20250305", name: "web_search" }] }, "tools.0.type"],
      [{ mcp_servers: [{ type: "url", url: "https://example.com" }] }, "mcp_servers"],
      [{ messages: [{ role: "user", content: [{ type: "video" }] }] }, "messages.0.content.0.type"],
    ] as const
  ) await check(await send(gateway, { ...hello, ...more }), 400, "invalid_request_error", param);

  const few = await gateway.newKey({ name: "few", plan: "few-tokens" });
  await gateway.admin("POST", `/accounts/${few.account}/credits`, {
    kind: "cash",
    amount: "10",
    reference: "few",
  }).then((res) => res.body?.cancel());
  const asFew = { authorization: `Bearer ${few.key}` };
  await (await send(gateway, hello, asFew)).body?.cancel();
  const limited = await send(gateway, hello, asFew);
  assert.ok(Number(limited.headers.get("retry-after")) >= 1);
  await check(limited, 429, "rate_limit_error");
  // A model whose only upstream keeps failing is not called any more.
  let failing = await send(gateway, { ...hello, model: "sick" });
  for (let tries = 0; tries < 20 && failing.status === 500; tries++) {
    await failing.body?.cancel();
    failing = await send(gateway, { ...hello, model: "sick" });
  }
  await check(failing, 529, "overloaded_error");

  const cut = await send(gateway, {
    stream: true,
    max_tokens: 50,
    messages: [{ role: "user", content: "Talk. [[simulate: cut=4]]" }],
  });
  const events = namedEvents(await cut.text());
  assert.equal(events.at(-1).type, "error");
  assert.equal(events.at(-1).error.type, "api_error");
  assert.ok(!events.some(({ type }) => type === "message_stop"));
  await gateway.verify();
});

Deno.test("a quote of a message is what the request holds", async () => {
  await using gateway = await openChatGateway();
  const res = await post(gateway, "/quotes", {
    path: "/messages",
    body: { model: "talk", ...hello },
  });
  assert.equal(res.status, 200, await res.clone().text());
  const { usage, covered } = await res.json();
  assert.deepEqual([usage.output_tokens, covered], [500, true]);
});
