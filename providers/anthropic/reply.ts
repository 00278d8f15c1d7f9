import type {
  ChatMessage,
  ChatReply,
  FinishReason,
  ReportedUsage,
} from "../../src/upstream/adapter.ts";
import { compact, count, type Json, record, records, text } from "../dialect/json.ts";
import { disjoint } from "../dialect/usage.ts";

const ENDINGS: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

/** Reads `stop_reason`; null while the answer goes on. An unknown reason is still an end. */
export function endingOf(reason: unknown): FinishReason | null {
  return typeof reason === "string" ? ENDINGS[reason] ?? "stop" : null;
}

/** Reads a whole message. */
export function readMessage(body: unknown): ChatReply {
  const message = record(body);
  if (!Array.isArray(message?.content)) throw new TypeError("the answer holds no content");
  return {
    choices: [{
      index: 0,
      message: messageOf(records(message.content)),
      finish_reason: endingOf(message.stop_reason) ?? "stop",
    }],
    usage: usageOf(record(message.usage)),
  };
}

/** Joins the blocks in their order; types that OpenAI's format does not have are left out. */
function messageOf(blocks: readonly Json[]): ChatMessage {
  const content = joined(blocks, "text", "text");
  const thoughts = joined(blocks, "thinking", "thinking");
  const calls = blocks.filter(({ type }) => type === "tool_use").map((block) => ({
    id: text(block.id) ?? "",
    type: "function" as const,
    function: { name: text(block.name) ?? "", arguments: JSON.stringify(block.input ?? {}) },
  }));
  return compact({
    role: "assistant",
    content,
    reasoning_content: thoughts ?? undefined,
    tool_calls: calls.length > 0 ? calls : undefined,
  });
}

function joined(blocks: readonly Json[], type: string, field: string): string | null {
  const found = blocks.filter((block) => block.type === type);
  return found.length === 0 ? null : found.map((block) => text(block[field]) ?? "").join("");
}

/** `input_tokens` includes neither tokens read from the cache nor tokens written to it. */
export function usageOf(usage: Json | null): ReportedUsage | null {
  if (usage === null) return null;
  const [read, written] = [count(usage.input_tokens), count(usage.output_tokens)];
  if (read === null && written === null) return null;
  const cacheWrites = count(usage.cache_creation_input_tokens) ?? 0;
  const forHour = count(record(usage.cache_creation)?.ephemeral_1h_input_tokens) ?? 0;
  const cacheWrite1h = Math.min(cacheWrites, forHour);
  return disjoint({
    input: read ?? 0,
    cachedInput: count(usage.cache_read_input_tokens),
    cacheWrite: cacheWrites - cacheWrite1h,
    cacheWrite1h,
    output: written ?? 0,
    reasoning: count(record(usage.output_tokens_details)?.thinking_tokens),
    webSearches: count(record(usage.server_tool_use)?.web_search_requests),
    serviceTier: usage.service_tier,
  }, { input: false, output: true });
}
