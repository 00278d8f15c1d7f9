/**
 * What each provider is told for conversations of each dialect, and what each dialect makes of answers: compared with
 * `test/dialects/golden`. `UPDATE_CASES=1` writes the files anew; read the difference.
 */
import assert from "node:assert/strict";
import { openAdapters } from "../../providers/registry.ts";
import { messagesDialect } from "../../src/http/dialects/messages/dialect.ts";
import { readMessagesRequest } from "../../src/http/dialects/messages/read_request.ts";
import { responsesDialect } from "../../src/http/dialects/responses/dialect.ts";
import { readResponsesRequest } from "../../src/http/dialects/responses/read_request.ts";
import type { ReasoningBox } from "../../src/http/dialects/responses/reasoning_box.ts";
import { ApiError } from "../../src/lib/api_error.ts";
import type { ChatAdapter, ChatChunk, ChatReply, ChatRequest } from "../../src/upstream/adapter.ts";
import { EventSplitter } from "../../src/upstream/event_stream.ts";
import type { ChatDialect } from "../../src/workflows/chat/dialect.ts";
import type { Json } from "../helpers/chat_gateway.ts";
import { namedEvents } from "../helpers/dialects.ts";
import { eventText, type RecordedCase, recordedFiles } from "../helpers/fake_upstream.ts";
import { ANSWERS, MESSAGES, RESPONSES } from "./golden_conversations.ts";

const FOLDER = new URL("./golden/", import.meta.url);
const ADAPTERS = openAdapters();
const CHATTING = [...ADAPTERS].filter(([, { types }]) => types.includes("chat"));
/** A name of a model for which the adapter shows what it can. */
const MODELS: Readonly<Record<string, string>> = {
  anthropic: "claude-sonnet-4-5",
  gemini: "gemini-2.5-pro",
};
const heading = {
  requestId: "req_01k8zq4d6f7g8h9j0k1m2n3p4q",
  model: "m",
  created: 1,
  fingerprint: "fp_1",
};
const usage = { input: 9, cachedInput: 3, output: 5, reasoning: 2 };

/** Readable in place of encrypted. */
const box: ReasoningBox = {
  close: (parts) => `sealed ${JSON.stringify(parts)}`,
  open: () => [{ type: "thinking", thinking: "Hm.", signature: "sig" }, {
    type: "redacted_thinking",
    data: "hidden",
  }],
};

const DIALECTS: Readonly<Record<string, (body: Json) => ChatRequest>> = {
  messages: (body) => readMessagesRequest(body, { reasons: true }).request,
  responses(body) {
    const input = typeof body.input === "string"
      ? [{ role: "user", content: body.input }]
      : body.input;
    const items = input.map((item: Json, at: number) => ({ item, path: `input.${at}` }));
    return readResponsesRequest(body, { items, box, reasons: true }).request;
  },
};
const CONVERSATIONS = { messages: MESSAGES, responses: RESPONSES };

for (const [dialect, conversations] of Object.entries(CONVERSATIONS)) {
  for (const [provider, { chat, baseUrl }] of CHATTING) {
    Deno.test(`${dialect} → ${provider} is as agreed`, async () => {
      const target = {
        model: MODELS[provider] ?? "upstream-model",
        baseUrl: baseUrl ?? "https://provider.test/v1",
        apiKey: "k",
        headers: {},
      };
      const sent = Object.entries(conversations).map(([name, body]) => {
        const request = DIALECTS[dialect]!({ model: "m", ...body });
        return [name, written(() => JSON.parse(chat!.write(request, target).body!))];
      });
      await compare(`${dialect}_to_${provider}`, Object.fromEntries(sent));
    });
  }
}

const declared = new Map([
  ["patch", { name: "patch", isCustom: true }],
  ["team__ask", { name: "ask", namespace: "team", isCustom: false }],
]);
const body = {
  model: "m",
  reasoning: { summary: "auto" as const },
  include: ["reasoning.encrypted_content"],
};
const ANSWER_DIALECTS: Readonly<Record<string, ChatDialect>> = {
  messages: messagesDialect(true),
  responses: responsesDialect({ body, declared, box }),
};

for (const [name, dialect] of Object.entries(ANSWER_DIALECTS)) {
  Deno.test(`answers look as agreed in ${name}`, async () => {
    const made: Json = {};
    for (const [about, choice] of Object.entries(ANSWERS)) {
      const reply = { choices: [{ index: 0, ...choice }], usage } as ChatReply;
      made[about] = JSON.parse(await dialect.renderAnswer(heading, reply, usage));
    }
    await compare(`${name}_answers`, made);
  });

  // Providers with an API of their own, and one of those that share OpenAI's.
  for (const provider of ["anthropic", "gemini", "openai"]) {
    Deno.test(`recorded answers of ${provider} look as agreed in ${name}`, async () => {
      const chat = ADAPTERS.get(provider)!.chat!;
      const made: Json = {};
      const cases = [...recordedFiles(provider).values()].flatMap((file) => file.cases);
      for (const recorded of cases) {
        const shown = await renderRecorded(dialect, chat, recorded);
        if (shown !== null) made[recorded.name] = shown;
      }
      await compare(`${provider}_to_${name}`, made);
    });
  }
}

/** A recorded reply as the client gets it: what the answer says, or the text of its events; null for an error. */
async function renderRecorded(
  dialect: ChatDialect,
  chat: ChatAdapter,
  { reply, read, chunks }: RecordedCase,
): Promise<Json> {
  if (read !== undefined) {
    const answer = chat.read({ body: reply.body });
    const { content, output, stop_reason, status } = JSON.parse(
      await dialect.renderAnswer(heading, answer, answer.usage ?? usage),
    );
    return { content, output, stop_reason, status };
  }
  if (chunks === undefined || !chunks.some((chunk) => (chunk as ChatChunk).done)) return null;
  const writer = dialect.openStream(heading);
  const reader = chat.reader();
  let text = "";
  for (
    const event of new EventSplitter().push(new TextEncoder().encode(eventText(reply.events!)))
  ) {
    const chunk = reader.next(event);
    if (chunk !== null) text += writer.chunk(chunk);
  }
  return namedEvents(text + await writer.end(usage)).map(({ type, delta, content_block, item }) => [
    ...[type, delta, content_block, item].filter((each) => each !== undefined),
  ]);
}

/** What is sent, or why nothing is. */
function written(write: () => Json): Json {
  try {
    return write();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { refused: error.code, param: error.param };
  }
}

async function compare(name: string, value: Json): Promise<void> {
  const file = new URL(`${name}.json`, FOLDER);
  if (Deno.env.get("UPDATE_CASES") === "1") {
    await Deno.mkdir(FOLDER, { recursive: true });
    await Deno.writeTextFile(file, `${JSON.stringify(value, null, 2)}\n`);
  }
  assert.deepEqual(JSON.parse(JSON.stringify(value)), JSON.parse(await Deno.readTextFile(file)));
}
