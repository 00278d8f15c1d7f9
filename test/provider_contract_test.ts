/**
 * Every adapter against the documented requests, answers, streams and errors of its provider, served
 * over real HTTP. The recordings are in providers/<name>/recorded; `canary` stands in them wherever a
 * provider says something about itself.
 */
import assert from "node:assert/strict";
import Ajv2020 from "ajv/dist/2020.js";
import fc from "fast-check";
import { openAdapters } from "../providers/registry.ts";
import schema from "../schemas/provider.schema.json" with { type: "json" };
import type {
  ChatAdapter,
  ChatChunk,
  ServerSentEvent,
  UpstreamTarget,
} from "../src/upstream/adapter.ts";
import { EventSplitter } from "../src/upstream/event_stream.ts";
import { openThinkingSeals, sealChunk, sealReply } from "../src/upstream/thinking_seals.ts";
import {
  eventText,
  type FakeUpstream,
  type RecordedCase,
  type RecordedFile,
  recordedFiles,
  type SeenRequest,
  startFakeUpstream,
} from "./helpers/fake_upstream.ts";

const ADAPTERS = openAdapters();
const KEY = "sk-canary";
/** Providers that must have every kind of case; the others are a YAML file and share the code of the first. */
const WHOLE = ["openai", "azure_openai", "anthropic", "gemini"];
/** Made here: there is no documentation to record. */
const WITHOUT_RECORDINGS = ["simulator"];
const CONFIGURED = [...ADAPTERS].filter(([name, { types }]) =>
  types.includes("chat") && ![...WHOLE, ...WITHOUT_RECORDINGS].includes(name)
).map(([name]) => name);

const recordings = [...ADAPTERS.keys()].flatMap((provider) =>
  [...recordedFiles(provider)].map(([name, file]) => ({ provider, name, file }))
);

for (const { provider, name, file } of recordings) {
  const chat = ADAPTERS.get(provider)!.chat!;
  for (const recorded of file.cases) {
    Deno.test({
      name: `${provider}/${name} ${recorded.name}`,
      sanitizeOps: true,
      sanitizeResources: true,
      async fn() {
        await using upstream = startFakeUpstream({ pieceBytes: 7 });
        await checkCase(chat, file, recorded, upstream);
      },
    });
  }
}

async function checkCase(
  chat: ChatAdapter,
  file: RecordedFile,
  recorded: RecordedCase,
  upstream: FakeUpstream,
): Promise<void> {
  upstream.answer(recorded.reply);
  const target: UpstreamTarget = {
    model: recorded.model ?? file.model,
    baseUrl: upstream.url + file.base_path,
    apiKey: KEY,
    headers: { "X-Declared": "yes" },
    maxOutputTokens: recorded.max_output_tokens,
  };
  const { url, ...init } = chat.write(recorded.request, target);
  const response = await fetch(url, init);
  checkSent(recorded, upstream.seen[0]!);

  const { reply } = recorded;
  assert.equal(response.status, reply.status);
  if (!response.ok) {
    const fault = chat.fault(response.status, jsonOrText(await response.text()));
    assert.deepEqual(fault, recorded.fault);
    return hidesProvider(fault);
  }
  if (reply.events !== undefined) {
    const chunks = readAll(chat, await eventsOf(response));
    assert.deepEqual(chunks, recorded.chunks);
    return hidesProvider(chunks.map(asShown));
  }
  const body = await response.json();
  if (recorded.unreadable) return void assert.throws(() => chat.read({ body }));
  const answer = chat.read({ body });
  assert.deepEqual(answer, recorded.read);
  hidesProvider(sealReply(SEALS, answer, target.baseUrl));
}

function checkSent({ sent }: RecordedCase, seen: SeenRequest): void {
  assert.equal(seen.method, "POST");
  assert.equal(seen.headers.get("content-type"), "application/json");
  assert.equal(seen.headers.get("x-declared"), "yes");
  if (sent === undefined) return;
  assert.equal(seen.path, sent.path);
  for (const [name, value] of Object.entries(sent.headers ?? {})) {
    assert.equal(seen.headers.get(name), value, name);
  }
  assert.deepEqual(JSON.parse(seen.body), sent.body);
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function eventsOf(response: Response): Promise<ServerSentEvent[]> {
  const splitter = new EventSplitter();
  const events: ServerSentEvent[] = [];
  for await (const bytes of response.body!) events.push(...splitter.push(bytes));
  return events;
}

function readAll(chat: ChatAdapter, events: readonly ServerSentEvent[]): ChatChunk[] {
  const reader = chat.reader();
  return events.map((event) => reader.next(event)).filter((chunk) => chunk !== null);
}

const SEALS = openThinkingSeals(() => [new Uint8Array(32)]);

/** Signatures of reasoning are the provider's: the gateway seals them before a client sees them. */
function asShown(chunk: ChatChunk): ChatChunk {
  return sealChunk(SEALS, chunk, "https://provider.test");
}

function hidesProvider(seenByClients: unknown): void {
  assert.doesNotMatch(JSON.stringify(seenByClients), /canary/i);
}

const streams = recordings.flatMap(({ provider, file }) =>
  file.cases.filter(({ reply }) => reply.events !== undefined).map(({ reply }) => ({
    provider,
    events: new EventSplitter().push(new TextEncoder().encode(eventText(reply.events!))),
  }))
);

Deno.test("a stream that is cut anywhere reads as the beginning of the whole one", () => {
  for (const { provider, events } of streams) {
    const chat = ADAPTERS.get(provider)!.chat!;
    const whole = readAll(chat, events);
    for (let length = 0; length <= events.length; length++) {
      const part = readAll(chat, events.slice(0, length));
      assert.deepEqual(part, whole.slice(0, part.length));
    }
  }
});

Deno.test("a reader takes any order of documented events without throwing", () => {
  for (const { provider, events } of streams) {
    const chat = ADAPTERS.get(provider)!.chat!;
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events), { maxLength: 40 }), (shuffled) => {
        hidesProvider(readAll(chat, shuffled).map(asShown));
      }),
      { numRuns: 25 },
    );
  }
});

Deno.test("every provider has recordings of what it must be able to do", () => {
  const kinds = [
    /plain text/,
    /system/,
    /image/,
    /parallel tool calls/,
    /tool results/,
    /JSON schema/,
    /reasoning/,
    /length/,
    /content filter|refus/,
    /cached/,
    /streams text/,
    /streams tool calls/,
    /streams reasoning/,
    /streams usage/,
  ];
  const names = (provider: string) =>
    recordings.filter((one) => one.provider === provider)
      .flatMap(({ file }) => file.cases.map(({ name }) => name));
  for (const provider of WHOLE) {
    const missing = kinds.filter((kind) => !names(provider).some((name) => kind.test(name)));
    assert.deepEqual(missing, [], provider);
  }
  for (const provider of CONFIGURED) {
    assert.ok(
      names(provider).length >= 3,
      `providers/${provider}/recorded has fewer than three cases`,
    );
  }
});

Deno.test("the schema of provider.yaml is valid, closed and describes every key", () => {
  // `expected` describes a pattern in words, for error messages.
  const ajv = new Ajv2020.default({ strict: true, allowUnionTypes: true, keywords: ["expected"] });
  ajv.compile(schema);
  const visit = (node: unknown, path: string) => {
    if (typeof node !== "object" || node === null) return;
    const { properties, additionalProperties } = node as Record<string, object | undefined>;
    if (properties !== undefined) assert.equal(additionalProperties, false, path);
    for (const [key, value] of Object.entries(properties ?? {})) {
      assert.ok(value.description, `${path}/${key} is not described`);
    }
    for (const [key, value] of Object.entries(node)) visit(value, `${path}/${key}`);
  };
  visit(schema, "");
});

Deno.test("every shipped provider.yaml fits its schema", () => {
  for (const [name, adapter] of ADAPTERS) {
    if (adapter.types.includes("chat")) assert.ok(adapter.chat, name);
  }
});

Deno.test("what the operator adds to a chat's body is in it, and wins", () => {
  const target = { model: "m", baseUrl: "https://a.test", apiKey: null, headers: {} };
  const extraBody = { temperature: 0.1, seed_of_ours: { deep: 1 } };
  const request = { model: "x", messages: [{ role: "user", content: "hi" }], temperature: 1 };
  for (const [name, { chat }] of ADAPTERS) {
    if (chat === undefined) continue;
    const body = JSON.parse(chat.write(request, { ...target, extraBody }).body!);
    assert.deepEqual([body.temperature, body.seed_of_ours], [0.1, { deep: 1 }], name);
  }
});
