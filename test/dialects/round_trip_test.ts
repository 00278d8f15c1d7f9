/**
 * Random conversations, written in one API and sent in another: text, tool calls, ids and order stay. The way there is
 * dialect → engine → provider, the way back provider → engine → dialect, whole and streamed.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { openAdapters } from "../../providers/registry.ts";
import { messagesDialect } from "../../src/http/dialects/messages/dialect.ts";
import { readMessagesRequest } from "../../src/http/dialects/messages/read_request.ts";
import { responsesDialect } from "../../src/http/dialects/responses/dialect.ts";
import { readResponsesRequest } from "../../src/http/dialects/responses/read_request.ts";
import { openReasoningBox } from "../../src/http/dialects/responses/reasoning_box.ts";
import type {
  ChatAdapter,
  ChatChunk,
  ChatRequest,
  ReportedUsage,
} from "../../src/upstream/adapter.ts";
import { EventSplitter } from "../../src/upstream/event_stream.ts";
import { openThinkingSeals } from "../../src/upstream/thinking_seals.ts";
import type { ChatDialect } from "../../src/workflows/chat/dialect.ts";
import type { Json } from "../helpers/chat_gateway.ts";
import { namedEvents } from "../helpers/dialects.ts";
import { WIRES } from "../helpers/emulated_provider.ts";
import {
  answer,
  asMessages,
  asResponses,
  conversation,
  joinTexts,
  READ_SENT,
  type Trace,
  traceOf,
  type Turn,
} from "./conversations.ts";

/** Over all pairs: 10,000 conversations there and 10,000 answers back. */
const RUNS = 10_000;
const PROVIDERS = Object.keys(READ_SENT);
const ADAPTERS = openAdapters();
const box = openReasoningBox(openThinkingSeals(() => [new Uint8Array(32)]));
const target = { model: "m", baseUrl: "https://provider.test/v1", apiKey: "k", headers: {} };
const heading = {
  requestId: "req_01k8zq4d6f7g8h9j0k1m2n3p4q",
  model: "m",
  created: 1,
  fingerprint: "fp_1",
};
const USAGE: ReportedUsage = { input: 5, cachedInput: 0, output: 7, reasoning: 0 };

interface Pair {
  /** The engine's request for a conversation. */
  read(turns: readonly Turn[]): ChatRequest;
  readonly dialect: ChatDialect;
  /** What a client reads in a whole answer, and in its events. */
  whole(body: Json): Trace;
  events(events: Json[]): Trace;
}

const blockTrace = (block: Json) =>
  block.type === "text" ? ["assistant", block.text] : ["call", block.id, block.name, block.input];
const itemTraces = (item: Json): Trace =>
  item.type === "function_call"
    ? [["call", item.call_id, item.name, JSON.parse(item.arguments)]]
    : item.content.map(({ text }: Json) => ["assistant", text]);

const DIALECTS: Readonly<Record<string, Pair>> = {
  messages: {
    read: (turns) => readMessagesRequest(asMessages(turns), { reasons: false }).request,
    dialect: messagesDialect(false),
    whole: ({ content }) => content.map(blockTrace),
    events: (events) => {
      const blocks: Json[] = [];
      for (const { type, content_block, index, delta } of events) {
        if (type === "content_block_start") blocks[index] = { ...content_block, json: "" };
        if (delta?.type === "text_delta") blocks[index].text += delta.text;
        if (delta?.type === "input_json_delta") blocks[index].json += delta.partial_json;
      }
      return blocks.map((block) =>
        block.type === "text"
          ? blockTrace(block)
          : blockTrace({ ...block, input: JSON.parse(block.json) })
      ) as unknown as Trace;
    },
  },
  responses: {
    read: (turns) => {
      const body = asResponses(turns);
      const items = body.input.map((item: Json, at: number) => ({ item, path: `input.${at}` }));
      return readResponsesRequest(body, { items, box, reasons: false }).request;
    },
    dialect: responsesDialect({ body: { model: "m" }, declared: new Map(), box }),
    whole: ({ output }) => output.flatMap(itemTraces),
    events: (events) => {
      const deltas = new Map<string, string>();
      for (const { type, item_id, delta } of events) {
        if (typeof delta === "string") deltas.set(item_id, (deltas.get(item_id) ?? "") + delta);
        else assert.ok(!String(type).endsWith(".delta"));
      }
      const { response } = events.at(-1);
      // What was streamed is what the final response has.
      for (const item of response.output) {
        const whole = item.type === "function_call" ? item.arguments : item.content[0].text;
        if (whole !== "{}") assert.equal(deltas.get(item.id) ?? "", whole);
      }
      return response.output.flatMap(itemTraces);
    },
  },
};

const pairs = Object.entries(DIALECTS).flatMap(([name, pair]) =>
  PROVIDERS.map((provider) => ({ name, pair, provider, chat: ADAPTERS.get(provider)!.chat! }))
);
const numRuns = Math.ceil(RUNS / pairs.length);

for (const { name, pair, provider, chat } of pairs) {
  Deno.test(`${name} → ${provider}: a conversation keeps its texts, calls, ids and order`, () => {
    fc.assert(
      fc.property(conversation, (turns) => {
        const sent = chat.write(pair.read(turns), target);
        const trace = READ_SENT[provider]!(JSON.parse(sent.body!));
        const expected = traceOf(turns);
        assert.deepEqual(
          joinTexts(trace),
          provider === "gemini" ? expected.map(parsedResult) : expected,
        );
      }),
      { numRuns },
    );
  });

  Deno.test(`${provider} → ${name}: an answer keeps its texts, calls, ids and order`, async () => {
    await fc.assert(
      fc.asyncProperty(answer, async (given) => {
        const expected = traceOf([{ ...given, said: "" }]).filter(([kind]) => kind !== "result");
        const reply = chat.read({ body: WIRES[provider]!.write(completionOf(given)) });
        const whole = await pair.dialect.renderAnswer(heading, reply, USAGE);
        assert.deepEqual(joinTexts(pair.whole(JSON.parse(whole))), expected);
        const events = await streamed(pair.dialect, chunksOf(chat, [streamBytes(provider, given)]));
        assert.deepEqual(joinTexts(pair.events(namedEvents(events))), expected);
      }),
      { numRuns },
    );
  });

  Deno.test(`${provider} → ${name}: a stream cut at any byte gives the same events`, async () => {
    const given: Turn = {
      said: "",
      answer: 'Grüße, 漢字 😀 "{}"\r\n',
      calls: [
        { id: "call_1", name: "weather", input: { city: "Tromsø" }, result: "" },
        { id: "call_2", name: "search", input: {}, result: "" },
      ],
    };
    const bytes = streamBytes(provider, given);
    const whole = await streamed(pair.dialect, chunksOf(chat, [bytes]));
    for (let at = 1; at < bytes.length; at++) {
      const pieces = [bytes.subarray(0, at), bytes.subarray(at)];
      assert.equal(await streamed(pair.dialect, chunksOf(chat, pieces)), whole, `cut at ${at}`);
    }
    const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    assert.equal(await streamed(pair.dialect, chunksOf(chat, single)), whole);
  });
}

Deno.test("calls that a provider writes at the same time come one after the other", async () => {
  const piece = (index: number, written: string, id?: string): ChatChunk => ({
    choices: [{
      index: 0,
      delta: {
        tool_calls: [{ index, id, function: { name: id && `f${index}`, arguments: written } }],
      },
      finish_reason: null,
    }],
  });
  const chunks = [
    piece(0, "", "a"),
    piece(1, "", "b"),
    piece(1, '{"x":'),
    piece(0, '{"y"'),
    piece(1, "1}"),
    piece(0, ":2}"),
  ];
  const expected = [["call", "a", "f0", { y: 2 }], ["call", "b", "f1", { x: 1 }]];
  for (const { dialect, events } of Object.values(DIALECTS)) {
    assert.deepEqual(events(namedEvents(await streamed(dialect, chunks))), expected);
  }
});

/** Gemini takes a result that is a JSON object as an object: spaces around its parts are not kept. */
function parsedResult([kind, id, ...rest]: Trace[number]): Trace[number] {
  if (kind !== "result") return [kind, id, ...rest];
  try {
    const value = JSON.parse(String(rest[0]));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return [kind, id, isObject ? JSON.stringify(value) : rest[0]];
  } catch {
    return [kind, id, ...rest]; // not JSON: a SyntaxError
  }
}

function completionOf({ answer, calls }: Turn): Json {
  return {
    id: "c1",
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: answer === "" ? null : answer,
        ...(calls.length > 0 && { tool_calls: calls.map(toolCall) }),
      },
      finish_reason: calls.length > 0 ? "tool_calls" : "stop",
    }],
    usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
  };
}

const toolCall = ({ id, name, input }: Turn["calls"][number]) => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(input) },
});

/** The answer as the provider streams it, a character at a time. */
function streamBytes(provider: string, { answer, calls }: Turn): Uint8Array {
  const write = WIRES[provider]!.writer();
  const chunk = (delta: Json, finish_reason: string | null = null, usage?: Json) =>
    write({ choices: [{ index: 0, delta, finish_reason }], ...(usage && { usage }) });
  let text = chunk({ role: "assistant", content: "" });
  for (const character of answer) text += chunk({ content: character });
  for (const [index, call] of calls.entries()) {
    const { function: { name, arguments: written }, ...head } = toolCall(call);
    text += chunk({ tool_calls: [{ index, ...head, function: { name, arguments: "" } }] });
    for (const piece of written.match(/.{1,3}/gsu) ?? []) {
      text += chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  text += chunk({}, calls.length > 0 ? "tool_calls" : "stop", {
    prompt_tokens: 5,
    completion_tokens: 7,
    total_tokens: 12,
  });
  return new TextEncoder().encode(text + write("[DONE]"));
}

function chunksOf(chat: ChatAdapter, pieces: readonly Uint8Array[]): ChatChunk[] {
  const splitter = new EventSplitter();
  const reader = chat.reader();
  return pieces.flatMap((piece) => splitter.push(piece)).map((event) => reader.next(event))
    .filter((chunk) => chunk !== null);
}

async function streamed(dialect: ChatDialect, chunks: readonly ChatChunk[]): Promise<string> {
  const writer = dialect.openStream(heading);
  const texts = chunks.map((chunk) => writer.chunk(chunk));
  return texts.join("") + await writer.end(USAGE);
}
