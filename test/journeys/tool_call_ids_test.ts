import assert from "node:assert/strict";
import { type ChatGateway, eventsOf, type Json, openChatGateway } from "../helpers/chat_gateway.ts";
import {
  type FakeUpstream,
  type RecordedReply,
  startFakeUpstream,
} from "../helpers/fake_upstream.ts";
import { openGateway } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const OURS = /^call_[A-Za-z0-9]{35}$/;

const configFor = (address: string, other = address) => `
limits: { default: { requests_per_minute: 100000, tokens_per_minute: 100000000 } }
providers:
  turns: { adapter: anthropic, base_url: "${address}/a", api_key: "\${NO_SUCH_KEY:-k}" }
  open: { adapter: openai_compatible, base_url: "${address}/v1" }
  other: { adapter: openai_compatible, base_url: "${other}/v1" }
models:
  - { id: turns, name: T, type: chat, capabilities: [chat, streaming, tools], upstreams: [{ provider: turns, model: m }] }
  - { id: open, name: O, type: chat, capabilities: [chat, streaming, tools], upstreams: [{ provider: open, model: m }] }
  - { id: other, name: X, type: chat, capabilities: [chat, streaming, tools], upstreams: [{ provider: other, model: m }] }
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: turns, billing_type: token, input_price: "0", output_price: "0", unit: 1K tokens }
      - { model: open, billing_type: token, input_price: "0", output_price: "0", unit: 1K tokens }
      - { model: other, billing_type: token, input_price: "0", output_price: "0", unit: 1K tokens }
`;

const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];

/** Replies with one call per id, as each dialect has them. */
const anthropicReply = (ids: readonly string[]): RecordedReply => ({
  status: 200,
  body: {
    content: ids.map((id) => ({ type: "tool_use", id, name: "f", input: {} })),
    stop_reason: "tool_use",
    usage: { input_tokens: 1, output_tokens: 1 },
  },
});
const anthropicStream = (ids: readonly string[]): RecordedReply => ({
  status: 200,
  events: [
    { type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } },
    ...ids.flatMap((id, index) => [
      {
        type: "content_block_start",
        index,
        content_block: { type: "tool_use", id, name: "f", input: {} },
      },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ].map((data) => ({ event: data.type, data })),
});
const openReply = (ids: readonly string[]): RecordedReply => ({
  status: 200,
  body: {
    choices: [{
      index: 0,
      message: { role: "assistant", content: null, tool_calls: ids.map(callOf) },
      finish_reason: "tool_calls",
    }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  },
});
/** Each id comes twice, as some servers repeat it with every piece of the arguments. */
const openStream = (ids: readonly string[]): RecordedReply => ({
  status: 200,
  events: [
    ...[...ids, ...ids].map((id, at) => ({
      data: {
        choices: [{
          index: 0,
          delta: { tool_calls: [{ ...callOf(id), index: at % ids.length }] },
          finish_reason: null,
        }],
      },
    })),
    { data: { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] } },
    { data: "[DONE]" },
  ],
});
const callOf = (id: string) => ({ id, type: "function", function: { name: "f", arguments: "{}" } });

async function idsOf(res: Response): Promise<string[]> {
  assert.equal(res.status, 200);
  if (!res.headers.get("content-type")!.startsWith("text/event-stream")) {
    const { choices } = await res.json();
    return choices[0].message.tool_calls.map((call: Json) => call.id);
  }
  const found = new Map<number, Set<string>>();
  for (const event of await eventsOf(res)) {
    for (const { index, id } of event.choices?.[0]?.delta?.tool_calls ?? []) {
      if (id) found.set(index, (found.get(index) ?? new Set()).add(id));
    }
  }
  return [...found.values()].map((ids) => {
    assert.equal(ids.size, 1, "one call has one id in all its pieces");
    return [...ids][0]!;
  });
}

/** Sends a conversation back that has these ids, and tells which ids the upstream saw. */
async function sentBack(
  gateway: Pick<ChatGateway, "fetch" | "key">,
  upstream: FakeUpstream,
  model: string,
  ids: readonly string[],
): Promise<{ calls: string[]; results: string[] }> {
  const messages = [
    { role: "user", content: "Go" },
    { role: "assistant", content: null, tool_calls: ids.map(callOf) },
    ...ids.map((tool_call_id) => ({ role: "tool", tool_call_id, content: "done" })),
  ];
  const res = await gateway.fetch("/v1/chat/completions", {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages, tools }),
  });
  assert.equal(res.status, 200, await res.text());
  const seen = JSON.parse(upstream.seen.at(-1)!.body).messages as Json[];
  if (model === "turns") {
    return {
      calls: seen[1].content.map((block: Json) => block.id),
      results: seen[2].content.map((block: Json) => block.tool_use_id),
    };
  }
  return {
    calls: seen[1].tool_calls.map((call: Json) => call.id),
    results: seen.slice(2).map((message) => message.tool_call_id),
  };
}

Deno.test(
  "ids of tool calls are ours to clients and the upstream's own to the upstream, on every node",
  // The embedded database serves one node.
  { ...STRICT, ignore: Deno.env.get("TEST_DATABASE_URL") === undefined },
  async () => {
    await using upstream = startFakeUpstream();
    await using gateway = await openChatGateway({ config: configFor(upstream.url) });
    await using beside = await openGateway({
      config: configFor(upstream.url),
      beside: gateway,
    });
    for (
      const [model, whole, streamed, own] of [
        [
          "turns",
          anthropicReply,
          anthropicStream,
          ["toolu_01D7FLrfh4GYq7yT1ULFeyMV", "toolu_01A09q90qw90lq917835lq9x"],
        ],
        ["open", openReply, openStream, [
          "chatcmpl-tool-0123456789abcdef",
          "functions.f:1",
          "fc-1",
        ]],
        ["open", openReply, openStream, ["call_abcDEF0123456789abcDEF01", "D681PevKs"]],
      ] as const
    ) {
      upstream.answer(whole(own));
      const ids = await idsOf(await gateway.chat(model, "Go", { tools }));
      upstream.answer(streamed(own));
      const again = await idsOf(await gateway.chat(model, "Go", { tools, stream: true }));
      assert.deepEqual(again, ids, "whole and streamed are the same");
      assert.equal(new Set(ids).size, own.length, "parallel calls stay apart");
      for (const id of ids) assert.match(id, OURS);

      upstream.answer(whole(own));
      for (const node of [gateway, beside]) {
        const back = await sentBack(node, upstream, model, ids);
        assert.deepEqual(back, { calls: own, results: own }, model);
      }
      const strange = ["call_AAAAAAAAAAAAAAAAAAAAAAAA", ids[0]!.slice(0, -1) + "_"];
      const passed = await sentBack(gateway, upstream, model, strange);
      assert.deepEqual(passed, { calls: strange, results: strange }, "not ours: as they are");
    }
  },
);

Deno.test(
  "a conversation that moves to another upstream takes our ids along, not the first one's",
  STRICT,
  async () => {
    await using upstream = startFakeUpstream();
    await using second = startFakeUpstream();
    await using gateway = await openChatGateway({
      config: configFor(upstream.url, second.url),
    });
    upstream.answer(anthropicReply(["toolu_01D7FLrfh4GYq7yT1ULFeyMV"]));
    const ids = await idsOf(await gateway.chat("turns", "Go", { tools }));
    second.answer(openReply(["functions.f:0"]));
    assert.deepEqual(await sentBack(gateway, second, "other", ids), { calls: ids, results: ids });
  },
);

Deno.test(
  "a stranger's id in characters that a provider does not take joins call and result",
  STRICT,
  async () => {
    await using upstream = startFakeUpstream();
    await using gateway = await openChatGateway({ config: configFor(upstream.url) });
    upstream.answer(anthropicReply(["toolu_1"]));
    const strange = ["functions.f:0", "functions_f:0", "ä"];
    const { calls, results } = await sentBack(gateway, upstream, "turns", strange);
    assert.deepEqual(calls, results);
    assert.equal(new Set(calls).size, 3);
    for (const id of calls) assert.match(id, /^[A-Za-z0-9_-]+$/);
  },
);
