import type {
  ChatChunk,
  ChatMessage,
  ChatReader,
  ChatReply,
  ChunkChoice,
  ChunkDelta,
  FinishReason,
} from "../../src/upstream/adapter.ts";
import * as allow from "./allow.ts";
import type { Faults } from "./faults.ts";
import type { Ending } from "./finish.ts";
import { compact, count, type Json, list, record, records, text } from "./json.ts";
import type { UsageReader } from "./usage.ts";

/** What reading the responses of a compatible server depends on. */
export interface Dialect {
  readonly usage: UsageReader;
  readonly faults: Faults;
  readonly ending: (reason: unknown) => Ending | null;
  /** Fields of a message that may contain the model's reasoning. */
  readonly reasoning: readonly string[];
}

/** Reads a whole answer. */
export function readReply(dialect: Dialect, body: unknown): ChatReply {
  const reply = record(body);
  const choices = reply === null ? [] : records(reply.choices);
  if (choices.length === 0) throw new TypeError("the answer holds no choices");
  return {
    choices: choices.map((choice, at) => {
      const ending = dialect.ending(choice.finish_reason);
      if (typeof ending === "object" && ending !== null) throw new Error("the answer broke off");
      const message = messageOf(dialect, record(choice.message), reply!.id);
      return compact({
        index: count(choice.index) ?? at,
        message,
        finish_reason: ending ?? (message.tool_calls === undefined ? "stop" : "tool_calls"),
        logprobs: allow.logprobs(choice.logprobs),
      });
    }),
    usage: dialect.usage(body),
  };
}

function messageOf(dialect: Dialect, message: Json | null, replyId: unknown): ChatMessage {
  if (message === null) throw new TypeError("a choice holds no message");
  const calls = allow.toolCalls(message.tool_calls, replyId);
  return compact({
    role: "assistant",
    content: text(message.content),
    refusal: "refusal" in message ? text(message.refusal) : undefined,
    reasoning_content: thoughts(dialect, message),
    tool_calls: calls.length > 0 ? calls : undefined,
    function_call: allow.functionOf(message.function_call) ?? undefined,
    annotations: allow.annotations(message.annotations),
    audio: allow.audio(message.audio),
  });
}

function thoughts({ reasoning }: Dialect, message: Json): string | undefined {
  for (const field of reasoning) {
    const found = message[field];
    if (typeof found === "string" && found !== "") return found;
  }
  return undefined;
}

const DONE: ChatChunk = Object.freeze({ choices: [], done: true });

/** Reads a stream of chunks. It keeps no state: each event is complete in itself. */
export function chunkReader(dialect: Dialect): ChatReader {
  return {
    next({ data }) {
      if (data.startsWith("[DONE]")) return DONE;
      const chunk = data === "" ? null : record(JSON.parse(data));
      return chunk === null ? null : readChunk(dialect, chunk);
    },
  };
}

function readChunk(dialect: Dialect, chunk: Json): ChatChunk | null {
  const fault = dialect.faults.inChunk(chunk);
  if (fault !== null) return { choices: [], fault };
  const choices: ChunkChoice[] = [];
  for (const given of list(chunk.choices)) {
    const choice = record(given);
    if (choice === null) continue;
    const ending = dialect.ending(choice.finish_reason);
    if (typeof ending === "object" && ending !== null) {
      return { choices: [], fault: { kind: ending.fault } };
    }
    const read = readChoice(dialect, choice, ending);
    if (read !== null) choices.push(read);
  }
  const usage = dialect.usage(chunk);
  if (usage !== null) return { choices, usage };
  return choices.length > 0 ? { choices } : null;
}

/** The delta of a choice; null where it is empty. */
function readChoice(
  dialect: Dialect,
  choice: Json,
  finish_reason: FinishReason | null,
): ChunkChoice | null {
  const delta = record(choice.delta) === null ? {} : deltaOf(dialect, choice.delta as Json);
  const logprobs = allow.logprobs(choice.logprobs) ?? undefined;
  let isEmpty = finish_reason === null && logprobs === undefined;
  if (isEmpty) { for (const _ in delta) isEmpty = false; }
  if (isEmpty) return null;
  const index = count(choice.index) ?? 0;
  return logprobs === undefined
    ? { index, delta, finish_reason }
    : { index, delta, finish_reason, logprobs };
}

function deltaOf(dialect: Dialect, given: Json): ChunkDelta {
  const delta: { -readonly [field in keyof ChunkDelta]: ChunkDelta[field] } = {};
  if (given.role === "assistant") delta.role = "assistant";
  if (typeof given.content === "string") delta.content = given.content;
  else if (given.content === null && delta.role !== undefined) delta.content = null;
  if (typeof given.refusal === "string") delta.refusal = given.refusal;
  const reasoning = thoughts(dialect, given);
  if (reasoning !== undefined) delta.reasoning_content = reasoning;
  const calls = Array.isArray(given.tool_calls) ? allow.toolCallDeltas(given.tool_calls) : [];
  if (calls.length > 0) delta.tool_calls = calls;
  const called = given.function_call === undefined
    ? null
    : allow.functionDelta(given.function_call);
  if (called !== null) delta.function_call = called;
  const annotations = given.annotations === undefined
    ? undefined
    : allow.annotations(given.annotations);
  if (annotations !== undefined) delta.annotations = annotations;
  const audio = given.audio === undefined ? undefined : allow.audio(given.audio);
  if (audio !== undefined) delta.audio = audio;
  return delta;
}
