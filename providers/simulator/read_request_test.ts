import assert from "node:assert/strict";
import fc from "fast-check";
import { openSimulator } from "./simulator.ts";
import { requestOf, send, STRICT, user } from "./test_client.ts";

const messages = user("Hello");
const call = { id: "call_1", type: "function", function: { name: "now", arguments: "{}" } };
const tools = [{ type: "function", function: { name: "now" } }];

/** What is wrong, and the status, `param` and `code` that say so. */
const WRONG: [Record<string, unknown>, number, string | null, string | null][] = [
  [{ model: null, messages }, 400, null, null],
  [{ model: 4, messages }, 400, "model", "invalid_type"],
  [{ model: "gpt-99", messages }, 404, null, "model_not_found"],
  [{}, 400, "messages", "missing_required_parameter"],
  [{ messages: [] }, 400, "messages", "empty_array"],
  [{ messages: "Hello" }, 400, "messages", "invalid_type"],
  [{ messages: [{ content: "x" }] }, 400, "messages[0].role", "missing_required_parameter"],
  [{ messages: [{ role: "poet", content: "x" }] }, 400, "messages[0].role", "invalid_value"],
  [{ messages: [{ role: "user" }] }, 400, "messages[0].content", null],
  [{ messages: user([{ type: "smell" }]) }, 400, "messages[0].content[0].type", "invalid_value"],
  [
    { messages: user([{ type: "image_url", image_url: {} }]) },
    400,
    "messages[0].content[0].image_url.url",
    "missing_required_parameter",
  ],
  [
    { messages: [...messages, { role: "tool", tool_call_id: "call_1", content: "x" }] },
    400,
    "messages.[1].role",
    null,
  ],
  [{ messages: [{ role: "assistant", tool_calls: [call] }, ...messages] }, 400, "messages", null],
  [{ messages, wisdom: 3 }, 400, "wisdom", "unknown_parameter"],
  [{ messages, temperature: "hot" }, 400, "temperature", "invalid_type"],
  [{ messages, temperature: 2.5 }, 400, "temperature", "decimal_above_max_value"],
  [{ messages, n: 0 }, 400, "n", "integer_below_min_value"],
  [{ messages, max_tokens: 1.5 }, 400, "max_tokens", "invalid_type"],
  [{ messages, max_tokens: 0 }, 400, "max_tokens", "integer_below_min_value"],
  [
    { messages, max_tokens: 4, max_completion_tokens: 4 },
    400,
    "max_tokens",
    "invalid_parameter_combination",
  ],
  [{ messages, stop: ["a", "b", "c", "d", "e"] }, 400, "stop", "array_above_max_length"],
  [{ messages, stop: [1] }, 400, "stop[0]", "invalid_type"],
  [{ messages, stream: "yes" }, 400, "stream", "invalid_type"],
  [{ messages, stream_options: { include_usage: true } }, 400, "stream_options", null],
  [{ messages, top_logprobs: 2 }, 400, "top_logprobs", null],
  [{ messages, reasoning_effort: "huge" }, 400, "reasoning_effort", "invalid_value"],
  [
    { messages, tools: [{ type: "function" }] },
    400,
    "tools[0].function",
    "missing_required_parameter",
  ],
  [
    { messages, tools: [{ type: "function", function: { name: "a b" } }] },
    400,
    "tools[0].function.name",
    "invalid_value",
  ],
  [{ messages, tool_choice: "auto" }, 400, "tool_choice", null],
  [
    { messages, tools, tool_choice: { type: "function", function: { name: "then" } } },
    400,
    "tool_choice",
    null,
  ],
  [{ messages, response_format: { type: "xml" } }, 400, "response_format.type", "invalid_value"],
  [
    { messages, response_format: { type: "json_schema", json_schema: { schema: {} } } },
    400,
    "response_format.json_schema.name",
    "missing_required_parameter",
  ],
  [
    {
      messages,
      response_format: { type: "json_schema", json_schema: { name: "x", schema: { enum: [] } } },
    },
    400,
    "response_format",
    "invalid_json_schema",
  ],
  [{ messages: user("word ".repeat(130_000)) }, 400, "messages", "context_length_exceeded"],
];

Deno.test("a wrong request is refused in OpenAI's words", STRICT, async () => {
  for (const [body, status, param, code] of WRONG) {
    const response = await send(body);
    const { error } = await response.json();
    const { message, type, ...rest } = error;
    assert.deepEqual(
      [response.status, rest],
      [status, { param, code }],
      JSON.stringify(body).slice(0, 200),
    );
    assert.ok(message.length > 10);
    assert.equal(type, "invalid_request_error");
  }
});

Deno.test("what is not JSON is refused", STRICT, async () => {
  for (const body of ['{"model":', "[]", "null"]) {
    const response = await openSimulator().transport(requestOf(body));
    assert.equal(response.status, 400, body);
    assert.equal((await response.json()).error.type, "invalid_request_error");
  }
});

Deno.test("every parameter that OpenAI knows is taken", STRICT, async () => {
  const response = await send({
    messages: [
      { role: "developer", content: "Be kind.", name: "operator" },
      { role: "user", content: [{ type: "text", text: "Hello" }] },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "noon" }] },
    ],
    audio: null,
    frequency_penalty: 0.5,
    presence_penalty: -0.5,
    logit_bias: { "50256": -100 },
    logprobs: false,
    max_completion_tokens: null,
    metadata: { a: "b" },
    modalities: ["text"],
    parallel_tool_calls: true,
    prediction: { type: "content", content: "x" },
    prompt_cache_key: "x",
    reasoning_effort: "low",
    safety_identifier: "x",
    service_tier: "auto",
    stop: null,
    store: false,
    stream: false,
    stream_options: null,
    temperature: 1,
    tool_choice: "auto",
    tools,
    top_p: 0.9,
    user: "someone",
    verbosity: "low",
    web_search_options: {},
  });
  assert.equal(response.status, 200, await response.text());
});

Deno.test("whatever a request says, it is answered or refused", STRICT, async () => {
  const { transport } = openSimulator();
  const parameters =
    "stop tools tool_choice response_format n seed max_tokens logprobs stream_options"
      .split(" ");
  const anything = fc.record(
    Object.fromEntries(parameters.map((name) => [name, fc.jsonValue({ maxDepth: 3 })])),
    { requiredKeys: [] },
  );
  const said = fc.oneof(fc.constant(messages), fc.array(fc.jsonValue({ maxDepth: 3 })));
  await fc.assert(
    fc.asyncProperty(anything, said, fc.jsonValue(), async (more, messages, schema) => {
      const response_format = { type: "json_schema", json_schema: { name: "x", schema } };
      for (const body of [{ messages, ...more }, { messages, response_format }]) {
        const response = await transport(requestOf({ model: "chat", ...body }));
        await response.body!.cancel();
        assert.ok([200, 400].includes(response.status));
      }
    }),
  );
});

Deno.test("another address or method is refused", STRICT, async () => {
  const { transport } = openSimulator();
  const lost = await transport(
    new Request("http://simulator.invalid/v1/wisdom", { method: "POST" }),
  );
  assert.equal(lost.status, 404);
  const read = await transport(new Request("http://simulator.invalid/v1/chat/completions"));
  assert.equal(read.status, 405);
});
