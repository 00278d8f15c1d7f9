import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import { answerOf, gather, sendStream, sendWhole, STRICT, user } from "./test_client.ts";

const weather = {
  type: "object",
  properties: {
    city: { type: "string" },
    unit: { enum: ["celsius", "fahrenheit"] },
    days: { type: "integer", minimum: 1, maximum: 7 },
  },
  required: ["city", "unit"],
  additionalProperties: false,
};
const tools = [
  { type: "function", function: { name: "get_weather", parameters: weather } },
  { type: "function", function: { name: "send_mail", parameters: { type: "object" } } },
  { type: "function", function: { name: "now" } },
];
const fits = new Ajv2020().compile(weather);

Deno.test(
  "a tool is called when the user names it, with arguments of its schema",
  STRICT,
  async () => {
    const body = { tools, messages: user("Use get_weather for Paris, please.") };
    const told = answerOf(await sendWhole(body));
    assert.equal(told.finish, "tool_calls");
    assert.equal(told.calls.length, 1);
    assert.equal(told.calls[0]!.name, "get_weather");
    assert.match(told.calls[0]!.id, /^call_\w{24}$/);
    const given = JSON.parse(told.calls[0]!.arguments);
    assert.ok(fits(given), told.calls[0]!.arguments);
    assert.equal(given.city, "Paris");

    const events = await sendStream({ ...body, stream_options: { include_usage: true } });
    assert.deepEqual(gather(events), told);
    assert.equal(events[0].choices[0].delta.content, null);
  },
);

Deno.test("no tool is called that the user does not name", STRICT, async () => {
  const { calls, text } = answerOf(await sendWhole({ tools, messages: user("I know nowhere.") }));
  assert.deepEqual(calls, []);
  assert.match(text, /simulator/);
});

Deno.test("several tools are called at once, unless that is forbidden", STRICT, async () => {
  const body = { tools, messages: user("First get weather, then send_mail with it") };
  const names = (answer: { calls: { name: string }[] }) => answer.calls.map(({ name }) => name);
  const told = answerOf(await sendWhole(body));
  assert.deepEqual(names(told), ["get_weather", "send_mail"]);
  assert.deepEqual(gather(await sendStream(body)).calls, told.calls);
  const single = answerOf(await sendWhole({ ...body, parallel_tool_calls: false }));
  assert.deepEqual(names(single), ["get_weather"]);
});

Deno.test("a choice of tools is followed", STRICT, async () => {
  const called = async (tool_choice: unknown, content = "Hello there") =>
    answerOf(await sendWhole({ tools, tool_choice, messages: user(content) })).calls
      .map(({ name }) => name);
  assert.deepEqual(await called("required"), ["get_weather"]);
  assert.deepEqual(await called("required", "what is it now"), ["now"]);
  assert.deepEqual(await called({ type: "function", function: { name: "send_mail" } }), [
    "send_mail",
  ]);
  assert.deepEqual(await called("none", "call get_weather"), []);
  assert.deepEqual(await called("auto", "call get_weather"), ["get_weather"]);
  const only = { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [tools[1]] } };
  assert.deepEqual(await called(only, "get_weather and send_mail"), ["send_mail"]);
});

Deno.test("after a tool's answer comes text that quotes it", STRICT, async () => {
  const question = user("Use get_weather for Paris.");
  const { choices: [{ message }] } = await sendWhole({ tools, messages: question });
  const result = {
    role: "tool",
    tool_call_id: message.tool_calls[0].id,
    content: '{"sky": "grey"}',
  };
  const told = answerOf(await sendWhole({ tools, messages: [...question, message, result] }));
  assert.deepEqual(told.calls, []);
  assert.equal(told.finish, "stop");
  assert.match(told.text, /The tool get_weather answered “\{"sky": "grey"\}”\./);
});

Deno.test("a call is cut at the token limit like any other answer", STRICT, async () => {
  const body = { tools, tool_choice: "required", messages: user("Hello"), max_tokens: 4 };
  const told = answerOf(await sendWhole(body));
  assert.equal(told.finish, "length");
  assert.throws(() => JSON.parse(told.calls[0]!.arguments));
});

Deno.test("an answer in JSON is JSON, whole and streamed", STRICT, async () => {
  const body = { response_format: { type: "json_object" }, messages: user("Tides as JSON") };
  const told = gather(await sendStream(body));
  const { answer, words, simulated } = JSON.parse(told.text);
  assert.match(answer, /simulator/);
  assert.deepEqual(words, ["Tides", "JSON"]);
  assert.equal(simulated, true);
  assert.equal(answerOf(await sendWhole(body)).text, told.text);
});

Deno.test("an answer to a schema is an instance of it", STRICT, async () => {
  const json_schema = { name: "weather", strict: true, schema: weather };
  const told = answerOf(
    await sendWhole({
      model: "chat-reasoning",
      response_format: { type: "json_schema", json_schema },
      messages: user("What is the weather in Lisbon?"),
    }),
  );
  assert.ok(fits(JSON.parse(told.text)), told.text);
  assert.notEqual(told.reasoning, "");
});

Deno.test("a call that the message spells out is made as it is, and no other", STRICT, async () => {
  const messages = user(
    'What is it now? get_weather({"city": "a (}) b", "unit": "celsius"}) and mail.',
  );
  const { calls } = answerOf(await sendWhole({ tools, messages }));
  assert.deepEqual(calls.map(({ name, arguments: given }) => [name, JSON.parse(given)]), [
    ["get_weather", { city: "a (}) b", unit: "celsius" }],
  ]);
});
