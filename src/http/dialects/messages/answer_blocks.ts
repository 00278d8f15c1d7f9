import { outputTokens } from "../../../model_types/chat.ts";
import type {
  ChatMessage,
  FinishReason,
  ReportedUsage,
  ToolCall,
} from "../../../upstream/adapter.ts";

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  function_call: "tool_use",
  content_filter: "refusal",
};

/** Why an answer ended: `stop_reason` and `stop_sequence`. */
export function stopOf(finish: FinishReason | null, stopSequence: string | undefined) {
  return stopSequence === undefined
    ? { stop_reason: STOP_REASONS[finish ?? "stop"], stop_sequence: null }
    : { stop_reason: "stop_sequence", stop_sequence: stopSequence };
}

/** Usage in Anthropic's format: input tokens are without cached ones, output tokens include reasoning. */
export function messagesUsage(usage: ReportedUsage) {
  const { input, cachedInput, cacheWrite = 0, cacheWrite1h = 0, audioInput = 0 } = usage;
  return {
    input_tokens: input + audioInput,
    cache_creation_input_tokens: cacheWrite + cacheWrite1h,
    cache_read_input_tokens: cachedInput,
    output_tokens: outputTokens(usage),
  };
}

/** The content blocks of a whole answer. */
export function answerBlocks(message: ChatMessage, isThinkingShown: boolean): unknown[] {
  const blocks: unknown[] = [];
  for (const part of partsOf(message)) {
    if (part.type === "text") {
      if (part.text !== "") blocks.push({ type: "text", text: part.text });
    } else if (!isThinkingShown) continue;
    else if (part.type === "redacted_thinking") blocks.push(part);
    else {
      const { thinking, signature = "" } = part;
      blocks.push({ type: "thinking", thinking, signature });
    }
  }
  for (const call of message.tool_calls ?? []) blocks.push(toolUse(call));
  return blocks;
}

function partsOf(message: ChatMessage): NonNullable<ChatMessage["parts"]> {
  if (message.parts !== undefined) return message.parts;
  const { reasoning_content: thinking = "", content, refusal } = message;
  return [
    ...(thinking === "" ? [] : [{ type: "thinking" as const, thinking }]),
    { type: "text", text: content ?? refusal ?? "" },
  ];
}

function toolUse({ id, function: { name, arguments: written } }: ToolCall) {
  return { type: "tool_use", id, name, input: inputOf(written) };
}

/** Models write arguments themselves, and now and then they are not JSON: then the client gets them as they are. */
function inputOf(written: string): unknown {
  if (written === "") return {};
  try {
    const input = JSON.parse(written);
    return typeof input === "object" && input !== null ? input : { input };
  } catch {
    return { arguments: written };
  }
}
