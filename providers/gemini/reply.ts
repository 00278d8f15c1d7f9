import type {
  ChatChoice,
  ChatMessage,
  ChatReply,
  FinishReason,
  ReportedUsage,
  ToolCall,
} from "../../src/upstream/adapter.ts";
import { callId } from "../dialect/call_id.ts";
import type { Ending } from "../dialect/finish.ts";
import { compact, count, type Json, record, records, text } from "../dialect/json.ts";
import { disjoint } from "../dialect/usage.ts";

const BROKEN: Ending = { fault: "failed" };

const ENDINGS: Readonly<Record<string, Ending>> = {
  STOP: "stop",
  OTHER: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content_filter",
  RECITATION: "content_filter",
  LANGUAGE: "content_filter",
  BLOCKLIST: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  SPII: "content_filter",
  IMAGE_SAFETY: "content_filter",
  IMAGE_PROHIBITED_CONTENT: "content_filter",
  IMAGE_RECITATION: "content_filter",
  MALFORMED_FUNCTION_CALL: BROKEN,
  MALFORMED_RESPONSE: BROKEN,
  MISSING_THOUGHT_SIGNATURE: BROKEN,
  TOO_MANY_TOOL_CALLS: BROKEN,
  UNEXPECTED_TOOL_CALL: BROKEN,
};

/** Reads `finishReason`; null while the answer continues. An answer with tool calls ends with STOP. */
export function endingOf(reason: unknown, called: boolean): Ending | null {
  if (typeof reason !== "string" || reason === "FINISH_REASON_UNSPECIFIED") return null;
  const ending = ENDINGS[reason] ?? "stop";
  return ending === "stop" && called ? "tool_calls" : ending;
}

/** Reads a whole answer. */
export function readContent(body: unknown): ChatReply {
  const reply = record(body) ?? {};
  const usage = usageOf(reply);
  const candidates = records(reply.candidates);
  if (candidates.length > 0) {
    return { choices: candidates.map((one, at) => choiceOf(one, at, reply.responseId)), usage };
  }
  if (!isBlocked(reply)) throw new TypeError("the answer holds no candidates");
  const message: ChatMessage = { role: "assistant", content: null };
  return { choices: [{ index: 0, message, finish_reason: "content_filter" }], usage };
}

/** The prompt was blocked: there is no answer. */
export function isBlocked(reply: Json): boolean {
  return typeof record(reply.promptFeedback)?.blockReason === "string";
}

function choiceOf(candidate: Json, at: number, replyId: unknown): ChatChoice {
  const index = count(candidate.index) ?? at;
  const parts = partsOf(candidate);
  const calls = parts.map((part) => record(part.functionCall))
    .filter((call) => call !== null)
    .map((call, nth) => toolCall(call, replyId, index, nth));
  const ending = endingOf(candidate.finishReason, calls.length > 0) ?? "stop";
  if (typeof ending === "object") throw new Error("the answer broke off");
  return compact({
    index,
    message: compact({
      role: "assistant" as const,
      content: wordsOf(parts, false),
      reasoning_content: wordsOf(parts, true) ?? undefined,
      tool_calls: calls.length > 0 ? calls : undefined,
    }),
    finish_reason: ending as FinishReason,
    logprobs: logprobsOf(candidate),
  });
}

export function partsOf(candidate: Json): readonly Json[] {
  return records(record(candidate.content)?.parts);
}

function wordsOf(parts: readonly Json[], thoughts: boolean): string | null {
  const found = parts.filter((part) =>
    typeof part.text === "string" && (part.thought === true) === thoughts
  );
  return found.length === 0 ? null : found.map((part) => part.text).join("");
}

export function toolCall(call: Json, replyId: unknown, candidate: number, nth: number): ToolCall {
  return {
    id: text(call.id) ?? callId(`${text(replyId)}/${candidate}`, nth),
    type: "function",
    function: { name: text(call.name) ?? "", arguments: JSON.stringify(call.args ?? {}) },
  };
}

/** The prompt's count includes cached tokens; the answer's count does not include thinking tokens. */
export function usageOf(reply: Json): ReportedUsage | null {
  const usage = record(reply.usageMetadata);
  const prompt = count(usage?.promptTokenCount);
  const output = count(usage?.candidatesTokenCount);
  if (usage === null || prompt === null && output === null) return null;
  const audioOutput = Math.min(output ?? 0, audioOf(usage.candidatesTokensDetails));
  return disjoint({
    input: (prompt ?? 0) + (count(usage.toolUsePromptTokenCount) ?? 0),
    cachedInput: count(usage.cachedContentTokenCount),
    // Cached audio is counted as cached.
    audioInput: Math.max(0, audioOf(usage.promptTokensDetails) - audioOf(usage.cacheTokensDetails)),
    output: (output ?? 0) - audioOutput,
    audioOutput,
    reasoning: count(usage.thoughtsTokenCount),
    webSearches: searchesOf(reply),
    serviceTier: usage.serviceTier,
  }, { input: true, output: false });
}

/** The audio among counts by modality. */
function audioOf(details: unknown): number {
  const audio = records(details).filter(({ modality }) => modality === "AUDIO");
  return audio.reduce((sum, { tokenCount }) => sum + (count(tokenCount) ?? 0), 0);
}

/** Queries of an answer that is grounded in a search; null where it is not. */
function searchesOf(reply: Json): number | null {
  const queries = records(reply.candidates).map((candidate) =>
    record(candidate.groundingMetadata)?.webSearchQueries
  ).filter(Array.isArray);
  return queries.length === 0 ? null : queries.reduce((sum, list) => sum + list.length, 0);
}

/** The chosen tokens, each with its most likely alternatives. */
export function logprobsOf(candidate: Json): unknown {
  const result = record(candidate.logprobsResult);
  if (result === null) return undefined;
  const others = records(result.topCandidates);
  const content = records(result.chosenCandidates).map((chosen, at) => ({
    ...tokenOf(chosen),
    top_logprobs: records(others[at]?.candidates).map(tokenOf),
  }));
  return { content, refusal: null };
}

const tokenOf = ({ token, logProbability }: Json) => ({
  token,
  logprob: logProbability,
  bytes: null,
});
