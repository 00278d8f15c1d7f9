import assert from "node:assert/strict";
import { type Json, openChatGateway } from "../helpers/chat_gateway.ts";
import { namedEvents, post } from "../helpers/dialects.ts";
import { startFakeUpstream } from "../helpers/fake_upstream.ts";

const SIGNATURE = "EqQBCkYIBBgCKkBcanary";
const THINKING = { type: "thinking", thinking: "I look.", signature: SIGNATURE };
const REDACTED = { type: "redacted_thinking", data: "canary-data" };
const CALL = { type: "tool_use", id: "toolu_01A09q90qw90lq917835lq9", name: "look", input: {} };
const TOOL = {
  name: "look",
  input_schema: { type: "object" },
  cache_control: { type: "ephemeral" },
};
const ASKED = {
  model: "claude",
  max_tokens: 4000,
  thinking: { type: "enabled", budget_tokens: 2000 },
  system: [{ type: "text", text: "Long rules.", cache_control: { type: "ephemeral", ttl: "1h" } }],
  tools: [TOOL],
};
const question = {
  role: "user",
  content: [{ type: "text", text: "Look.", cache_control: { type: "ephemeral" } }],
};

const configFor = (first: string, second: string) => `
limits: { default: { requests_per_minute: 100000, tokens_per_minute: 100000000 } }
providers:
  one: { adapter: anthropic, base_url: "${first}/v1", api_key: "\${NO_SUCH_KEY:-k}" }
  two: { adapter: anthropic, base_url: "${second}/v1", api_key: "\${NO_SUCH_KEY:-k}" }
models:
  - { id: claude, name: Claude, type: chat, capabilities: [chat, streaming, tools, reasoning, files], limits: { max_output_tokens: 8000 }, upstreams: [{ provider: one, model: claude-sonnet-4-5 }] }
  - { id: other, name: Other, type: chat, capabilities: [chat, streaming, tools, reasoning], limits: { max_output_tokens: 8000 }, upstreams: [{ provider: two, model: claude-sonnet-4-5 }] }
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: claude, billing_type: token, input_price: "1", output_price: "2", cache_write_price: "1", cache_write_1h_price: "2", unit: 1M tokens }
      - { model: other, billing_type: token, input_price: "1", output_price: "2", cache_write_price: "1", cache_write_1h_price: "2", unit: 1M tokens }
`;

const message = (content: unknown[], stop_reason = "tool_use") => ({
  status: 200,
  body: {
    id: "msg_canary",
    type: "message",
    role: "assistant",
    model: "canary",
    content,
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 9 },
  },
});

const stream = (blocks: Json[]) => ({
  status: 200,
  events: [
    {
      event: "message_start",
      data: { type: "message_start", message: { usage: { input_tokens: 9 } } },
    },
    ...blocks.flatMap((block, index) => [
      {
        event: "content_block_start",
        data: {
          type: "content_block_start",
          index,
          content_block: block.type === "thinking"
            ? { ...block, thinking: "", signature: "" }
            : block,
        },
      },
      ...(block.type !== "thinking" ? [] : [
        { type: "thinking_delta", thinking: block.thinking },
        { type: "signature_delta", signature: block.signature.slice(0, 5) },
        { type: "signature_delta", signature: block.signature.slice(5) },
      ]).map((delta) => ({
        event: "content_block_delta",
        data: { type: "content_block_delta", index, delta },
      })),
      { event: "content_block_stop", data: { type: "content_block_stop", index } },
    ]),
    {
      event: "message_delta",
      data: {
        type: "message_delta",
        delta: { stop_reason: "tool_use" },
        usage: { output_tokens: 9 },
      },
    },
    { event: "message_stop", data: { type: "message_stop" } },
  ],
});

/** The blocks that a client gathers from events. */
function blocksOf(events: Json[]): Json[] {
  const blocks: Json[] = [];
  for (const { type, index, content_block, delta } of events) {
    if (type === "content_block_start") blocks[index] = { ...content_block };
    if (delta?.type === "thinking_delta") blocks[index].thinking += delta.thinking;
    if (delta?.type === "signature_delta") blocks[index].signature += delta.signature;
  }
  return blocks;
}

Deno.test("Anthropic gets back its signatures, ids and cache marks as they were; another upstream gets no signature", async () => {
  await using first = startFakeUpstream();
  await using second = startFakeUpstream();
  await using gateway = await openChatGateway({ config: configFor(first.url, second.url) });
  for (const isStream of [false, true]) {
    const blocks = [THINKING, REDACTED, CALL];
    first.answer(isStream ? stream(blocks) : message(blocks));
    const res = await post(gateway, "/messages", {
      ...ASKED,
      messages: [question],
      stream: isStream,
    });
    const text = await res.text();
    const content = isStream ? blocksOf(namedEvents(text)) : JSON.parse(text).content;
    assert.deepEqual(content.map(({ type }: Json) => type), [
      "thinking",
      "redacted_thinking",
      "tool_use",
    ]);
    assert.ok(!text.includes("canary") && !text.includes("toolu_"), text);

    const result = {
      type: "tool_result",
      tool_use_id: content[2].id,
      content: "A view.",
      is_error: true,
    };
    const messages = [question, { role: "assistant", content }, {
      role: "user",
      content: [result],
    }];
    first.answer(message([{ type: "text", text: "Done." }], "end_turn"));
    const done = await post(gateway, "/messages", { ...ASKED, messages });
    assert.equal(done.status, 200, await done.text());
    const sent = JSON.parse(first.seen.at(-1)!.body);
    assert.deepEqual(sent.messages, [
      question,
      { role: "assistant", content: [THINKING, REDACTED, CALL] },
      {
        role: "user",
        content: [{
          type: "tool_result",
          tool_use_id: CALL.id,
          content: [{ type: "text", text: "A view." }],
          is_error: true,
        }],
      },
    ]);
    assert.deepEqual(sent.system, ASKED.system);
    assert.deepEqual(sent.tools, [TOOL]);
    assert.deepEqual(sent.thinking, ASKED.thinking);

    second.answer(message([{ type: "text", text: "Done." }], "end_turn"));
    const other = await post(gateway, "/messages", { ...ASKED, model: "other", messages });
    assert.equal(other.status, 200, await other.text());
    const foreign = second.seen.at(-1)!.body;
    assert.ok(!foreign.includes(SIGNATURE) && !foreign.includes("redacted_thinking"), foreign);
    assert.equal(
      JSON.parse(foreign).thinking,
      undefined,
      "thinking cannot continue without its signature",
    );
  }
  await gateway.verify();
});

Deno.test("reasoning of Anthropic survives Responses: encrypted, stored, and sent back with its signature", async () => {
  await using first = startFakeUpstream();
  await using gateway = await openChatGateway({ config: configFor(first.url, first.url) });
  const asked = {
    model: "claude",
    input: "Look.",
    reasoning: { effort: "medium" },
    max_output_tokens: 4000,
  };
  const tools = [{ type: "function", name: "look", parameters: { type: "object" } }];
  first.answer(message([THINKING, CALL]));
  const response: Json = await (await post(gateway, "/responses", { ...asked, tools })).json();
  const call = response.output.at(-1);
  const output = { type: "function_call_output", call_id: call.call_id, output: "A view." };
  first.answer(message([{ type: "text", text: "Done." }], "end_turn"));
  const next = { ...asked, tools, previous_response_id: response.id, input: [output] };
  const done = await post(gateway, "/responses", next);
  assert.equal(done.status, 200, await done.text());
  assert.deepEqual(JSON.parse(first.seen.at(-1)!.body).messages[1], {
    role: "assistant",
    content: [THINKING, CALL],
  });
});

Deno.test("a document reaches Anthropic; a model without `files` refuses it before money is held", async () => {
  await using first = startFakeUpstream();
  await using gateway = await openChatGateway({ config: configFor(first.url, first.url) });
  const source = { type: "base64", media_type: "application/pdf", data: btoa("%PDF-1.7 one page") };
  const messages = [{ role: "user", content: [{ type: "document", source }] }];
  first.answer(message([{ type: "text", text: "A page." }], "end_turn"));
  const read = await post(gateway, "/messages", { model: "claude", max_tokens: 50, messages });
  assert.equal(read.status, 200, await read.text());
  assert.deepEqual(JSON.parse(first.seen.at(-1)!.body).messages[0].content, [{
    type: "document",
    source,
  }]);
  const before = first.seen.length;
  const refused = await post(gateway, "/messages", { model: "other", max_tokens: 50, messages });
  const { error } = await refused.json();
  assert.deepEqual([refused.status, error.code, error.param], [
    400,
    "capability_not_supported",
    "messages.0",
  ]);
  assert.equal(first.seen.length, before);
});
