import { type Json, records, text } from "./json.ts";

/**
 * Messages and tools in OpenAI's own format. The gateway's requests may say more, in Anthropic's words
 * (`src/upstream/adapter.ts`): servers that are compatible with OpenAI reject fields that they do not know.
 */

/**
 * The messages without what OpenAI's format does not have; the same list where nothing changes. `keepsMarks`: the server
 * knows `cache_control` of parts.
 */
export function plainMessages(messages: readonly Json[], keepsMarks: boolean): readonly Json[] {
  const unmark = keepsMarks ? (part: Json) => part : unmarked;
  const needsChange = (message: Json) => differs(message, keepsMarks);
  if (!messages.some(needsChange)) return messages;
  const plain: Json[] = [];
  /** Images and files of tool results, which the format has in user messages only. */
  let attached: Json[] = [];
  for (const message of messages) {
    if (message.role !== "tool" && attached.length > 0) {
      plain.push({ role: "user", content: attached });
      attached = [];
    }
    if (!needsChange(message)) plain.push(message);
    else if (message.role === "tool") {
      const { rest, others } = plainResult(message, unmark);
      plain.push(rest);
      attached.push(...others);
    } else plain.push(plainMessage(message, unmark));
  }
  if (attached.length > 0) plain.push({ role: "user", content: attached });
  return plain;
}

function differs(message: Json, keepsMarks: boolean): boolean {
  if (message.is_error !== undefined || message.cache_control !== undefined) return true;
  if (Array.isArray(message.tool_calls) && message.tool_calls.some(isMarked)) return true;
  if (!Array.isArray(message.content)) return false;
  return message.content.some((part: Json) =>
    !keepsMarks && isMarked(part) || part.type === "thinking" ||
    part.type === "redacted_thinking" ||
    message.role === "tool" && part.type !== "text"
  );
}

function isMarked(part: Json): boolean {
  return part.cache_control !== undefined;
}

type Unmark = (part: Json) => Json;

function plainMessage(message: Json, unmark: Unmark): Json {
  const { cache_control: _, ...plain } = message;
  const tool_calls = Array.isArray(plain.tool_calls)
    ? { tool_calls: plain.tool_calls.map(unmarked) }
    : {};
  if (!Array.isArray(plain.content)) return { ...plain, ...tool_calls };
  const parts = records(plain.content);
  const thoughts = parts.filter(({ type }) => type === "thinking")
    .map(({ thinking }) => text(thinking) ?? "").join("");
  const said = parts.filter(({ type }) => type !== "thinking" && type !== "redacted_thinking");
  return {
    ...plain,
    content: said.length > 0 ? said.map(unmark) : emptyContent(plain),
    ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
    ...tool_calls,
  };
}

/** A message with tool calls may have no content; any other needs a text. */
function emptyContent({ tool_calls }: Json): "" | null {
  return Array.isArray(tool_calls) && tool_calls.length > 0 ? null : "";
}

function plainResult(message: Json, unmark: Unmark): { rest: Json; others: Json[] } {
  const { cache_control: _, is_error: _error, content, ...rest } = message;
  if (!Array.isArray(content)) return { rest: { ...rest, content }, others: [] };
  const parts = records(content).map(unmark);
  const texts = parts.filter(({ type }) => type === "text");
  const others = parts.filter(({ type }) => type !== "text");
  const shown = texts.length > 0 ? texts : "The result is attached below.";
  return { rest: { ...rest, content: shown }, others };
}

/** The tools without marks of other providers; the same list where there are none. */
export function plainTools(tools: unknown): unknown {
  return Array.isArray(tools) && tools.some(isMarked) ? tools.map(unmarked) : tools;
}

function unmarked(value: Json): Json {
  if (value.cache_control === undefined) return value;
  const { cache_control: _, ...rest } = value;
  return rest;
}
