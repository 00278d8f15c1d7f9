import assert from "node:assert/strict";
import { type ChatGateway, type Json, openChatGateway } from "../helpers/chat_gateway.ts";
import { namedEvents, post } from "../helpers/dialects.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const send = (gateway: ChatGateway, body: object) =>
  post(gateway, "/responses", { model: "talk", ...body });

async function created(gateway: ChatGateway, body: object): Promise<Json> {
  const res = await send(gateway, body);
  assert.equal(res.status, 200, await res.clone().text());
  return await res.json();
}

const textIn = (response: Json): string =>
  response.output.flatMap((item: Json) => item.content ?? []).map((part: Json) => part.text).join(
    "",
  );

const WEATHER = {
  type: "function",
  name: "weather",
  description: "The weather of a city.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
};

Deno.test("POST /v1/responses answers 200 in OpenAI's shape, and takes the price", async () => {
  await using gateway = await openChatGateway();
  const res = await send(gateway, {
    input: "Say something about tides.",
    instructions: "Be brief.",
    metadata: { topic: "sea" },
    max_output_tokens: 500,
  });
  assert.equal(res.status, 200, await res.clone().text());
  const response: Json = await res.json();
  assert.match(response.id, /^resp_[0-9a-z]{26}$/);
  assert.deepEqual(
    [response.object, response.status, response.model, response.store],
    ["response", "completed", "talk", true],
  );
  const [message] = response.output;
  assert.deepEqual([message.type, message.role, message.status], [
    "message",
    "assistant",
    "completed",
  ]);
  assert.ok(textIn(response).length > 0);
  assert.deepEqual(response.metadata, { topic: "sea" });
  const { usage } = await gateway.receipt(res);
  assert.equal(usage.output_tokens, response.usage.output_tokens);
  assert.equal(
    response.usage.total_tokens,
    response.usage.input_tokens + response.usage.output_tokens,
  );
  await gateway.verify();
});

Deno.test("POST /v1/responses streams numbered events that add up to the response", async () => {
  await using gateway = await openChatGateway();
  const res = await send(gateway, { input: "Say something about tides.", stream: true });
  const events = namedEvents(await res.text());
  assert.deepEqual(events.map(({ sequence_number }) => sequence_number), events.map((_, at) => at));
  const kinds = events.map(({ type }) => type);
  assert.deepEqual(kinds.slice(0, 4), [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
  ]);
  assert.deepEqual(kinds.slice(-4), [
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
  const text = events.filter(({ type }) => type === "response.output_text.delta")
    .map(({ delta }) => delta).join("");
  const { response } = events.at(-1);
  assert.equal(textIn(response), text);
  assert.deepEqual(events[0].response.output, []);
  assert.deepEqual(await (await gateway.get(`/v1/responses/${response.id}`)).json(), response);
});

Deno.test("function and custom tools are called, streamed and answered", async () => {
  await using gateway = await openChatGateway();
  const input = [{ role: "user", content: "Use weather for Oslo." }];
  const first = await created(gateway, { input, tools: [WEATHER] });
  const call = first.output.at(-1);
  assert.deepEqual([call.type, call.name, call.status], ["function_call", "weather", "completed"]);
  assert.equal(typeof JSON.parse(call.arguments).city, "string");

  const streamed = await send(gateway, { input, tools: [WEATHER], stream: true, store: false });
  const events = namedEvents(await streamed.text());
  const deltas = events.filter(({ type }) => type === "response.function_call_arguments.delta")
    .map(({ delta }) => delta).join("");
  const done = events.find(({ type }) => type === "response.function_call_arguments.done");
  assert.equal(done.arguments, deltas);

  const result = { type: "function_call_output", call_id: call.call_id, output: "Rain" };
  const second = await created(gateway, {
    input: [...input, ...first.output, result],
    tools: [WEATHER],
  });
  assert.match(textIn(second), /Rain/);

  const patch = {
    type: "custom",
    name: "apply_patch",
    description: "Changes files.",
    format: { type: "grammar", syntax: "lark", definition: "start: /.+/" },
  };
  const asked = [{ role: "user", content: "Please apply_patch now." }];
  const custom = await created(gateway, { input: asked, tools: [patch] });
  const made = custom.output.at(-1);
  assert.equal(made.type, "custom_tool_call");
  assert.equal(typeof made.input, "string");
  const answered = await created(gateway, {
    input: [...asked, ...custom.output, {
      type: "custom_tool_call_output",
      call_id: made.call_id,
      output: "Done",
    }],
    tools: [patch],
  });
  assert.match(textIn(answered), /Done/);
  const events2 = namedEvents(
    await (await send(gateway, { input: asked, tools: [patch], stream: true })).text(),
  );
  assert.ok(events2.some(({ type }) => type === "response.custom_tool_call_input.done"));
});

Deno.test("previous_response_id continues a stored conversation, also its tool calls", async () => {
  await using gateway = await openChatGateway();
  const first = await created(gateway, { input: "Use weather for Oslo.", tools: [WEATHER] });
  const second = await created(gateway, {
    previous_response_id: first.id,
    input: [{
      type: "function_call_output",
      call_id: first.output.at(-1).call_id,
      output: "Snow",
    }],
    tools: [WEATHER],
  });
  assert.equal(second.previous_response_id, first.id);
  assert.match(textIn(second), /Snow/);
  const third = await created(gateway, { previous_response_id: second.id, input: "And now?" });
  assert.ok(third.usage.input_tokens > second.usage.input_tokens);
  // A client that knows that items are stored only names them.
  const named = await created(gateway, {
    input: [
      { role: "user", content: "Use weather for Oslo." },
      { type: "item_reference", id: first.output.at(-1).id },
      { type: "function_call_output", call_id: first.output.at(-1).call_id, output: "Hail" },
    ],
    tools: [WEATHER],
  });
  assert.match(textIn(named), /Hail/);
});

Deno.test("404 and 400 for responses that are not stored, were deleted or belong to another account", async () => {
  await using gateway = await openChatGateway();
  const kept = await created(gateway, { input: "Hello" });
  const unkept = await created(gateway, { input: "Hello", store: false });
  const other = await gateway.newKey({ name: "other" });
  const asOther = { authorization: `Bearer ${other.key}` };
  for (
    const [id, headers] of [[unkept.id, {}], [kept.id, asOther], ["resp_1", {}], [
      kept.id.replace("resp", "x"),
      {},
    ]]
  ) {
    const res = await gateway.get(`/v1/responses/${id}`, headers);
    assert.deepEqual([res.status, (await errorOf(res)).code], [404, "response_not_found"]);
    const items = await gateway.get(`/v1/responses/${id}/input_items`, headers);
    assert.deepEqual([items.status, (await errorOf(items)).code], [404, "response_not_found"]);
  }
  const stolen = await gateway.fetch(`/v1/responses/${kept.id}`, {
    method: "DELETE",
    headers: asOther,
  });
  assert.equal(stolen.status, 404);
  await stolen.body?.cancel();
  const continued = await created(gateway, { previous_response_id: kept.id, input: "More" });
  const deleted = await gateway.fetch(`/v1/responses/${kept.id}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  assert.deepEqual(await deleted.json(), { id: kept.id, object: "response", deleted: true });
  for (const id of [kept.id, continued.id, unkept.id]) {
    const res = await send(gateway, { previous_response_id: id, input: "More" });
    const error = await errorOf(res);
    assert.deepEqual([res.status, error.code, error.param], [
      400,
      "response_not_found",
      "previous_response_id",
    ]);
  }
  await gateway.verify();
});

Deno.test("input_items lists what the request sent, with ids, in pages", async () => {
  await using gateway = await openChatGateway();
  const input = ["One", "Two", "Three"].map((content) => ({ role: "user", content }));
  const { id } = await created(gateway, { input });
  const first: Json = await (await gateway.get(`/v1/responses/${id}/input_items?order=asc&limit=2`))
    .json();
  assert.deepEqual(first.data.map(({ content }: Json) => content), ["One", "Two"]);
  assert.equal(first.has_more, true);
  const rest: Json =
    await (await gateway.get(`/v1/responses/${id}/input_items?order=asc&after=${first.last_id}`))
      .json();
  assert.deepEqual(rest.data.map(({ content }: Json) => content), ["Three"]);
});

Deno.test("reasoning is summed up on request, and comes back encrypted", async () => {
  await using gateway = await openChatGateway();
  const asked = { model: "think", input: "Why is the sky blue?", max_output_tokens: 500 };
  const quiet = await created(gateway, asked);
  assert.deepEqual(quiet.output[0].summary, []);
  assert.equal(quiet.output[0].encrypted_content, undefined);
  const shown = await created(gateway, {
    ...asked,
    reasoning: { effort: "low", summary: "auto" },
    include: ["reasoning.encrypted_content"],
    store: false,
  });
  const [reasoning, message] = shown.output;
  assert.deepEqual([reasoning.type, message.type], ["reasoning", "message"]);
  assert.ok(reasoning.summary[0].text.length > 0);
  assert.ok(!atob(reasoning.encrypted_content).includes(reasoning.summary[0].text.slice(0, 8)));
  const more = await created(gateway, {
    ...asked,
    input: [{ role: "user", content: asked.input }, ...shown.output, {
      role: "user",
      content: "And at dusk?",
    }],
  });
  assert.equal(more.status, "completed");
  const events = namedEvents(
    await (await send(gateway, { ...asked, reasoning: { summary: "auto" }, stream: true })).text(),
  );
  const kinds = new Set(events.map(({ type }) => type));
  for (const part of ["part.added", "text.delta", "text.done", "part.done"]) {
    assert.ok(kinds.has(`response.reasoning_summary_${part}`), part);
  }
});

Deno.test("text.format is a schema that the answer fits; a short limit leaves it incomplete", async () => {
  await using gateway = await openChatGateway();
  const schema = WEATHER.parameters;
  const format = { type: "json_schema", name: "place", schema, strict: true };
  const response = await created(gateway, { input: "Where?", text: { format } });
  assert.equal(typeof JSON.parse(textIn(response)).city, "string");
  const short = await created(gateway, {
    input: "Tell me all. [[simulate: tokens=50]]",
    max_output_tokens: 16,
  });
  assert.deepEqual([short.status, short.incomplete_details], ["incomplete", {
    reason: "max_output_tokens",
  }]);
  assert.equal(short.output.at(-1).status, "incomplete");
});

Deno.test("400 by name for what is not offered, and nothing is held; unknown fields are named", async () => {
  await using gateway = await openChatGateway();
  for (
    const [more, param] of [
      [{ conversation: "conv_1" }, "conversation"],
      [{ prompt: { id: "p" } }, "prompt"],
      [{ tools: [{ type: "code_interpreter", container: {} }] }, "tools.0.type"],
      [{ input: [{ type: "computer_call" }] }, "input.0.type"],
      [
        { input: [{ role: "user", content: [{ type: "input_image", file_id: "f" }] }] },
        "input.0.content.0.image_url",
      ],
      [{ input: [{ role: "user", content: [{ type: "input_file", file_data: "x" }] }] }, "input.0"],
      [{ input: [] }, "input"],
      [{ input: "x".repeat(6000) }, "input"],
    ] as const
  ) {
    const res = await send(gateway, { input: "Hello", ...more });
    const error = await errorOf(res);
    assert.deepEqual([res.status, error.param], [400, param], error.message);
  }
  assert.deepEqual(await gateway.balance(), { available: "100.00", frozen: "0.00" });
  const res = await send(gateway, {
    input: "Hello",
    zebra: 1,
    tools: [{ type: "web_search" }],
    reasoning: { effort: "low" },
  });
  assert.equal(res.status, 200, await res.clone().text());
  assert.equal(res.headers.get("x-ignored-fields"), "zebra, tools.0, reasoning.effort");
  await res.body?.cancel();
});

Deno.test("a stream that breaks ends with response.failed, is charged for what came, and is not stored", async () => {
  await using gateway = await openChatGateway();
  const res = await send(gateway, { input: "Talk. [[simulate: cut=6]]", stream: true });
  const last = namedEvents(await res.text()).at(-1);
  assert.deepEqual([last.type, last.response.status, last.response.error.code], [
    "response.failed",
    "failed",
    "server_error",
  ]);
  const stored = await gateway.get(`/v1/responses/${last.response.id}`);
  assert.equal(stored.status, 404, await stored.text());
  await gateway.verify();
});
