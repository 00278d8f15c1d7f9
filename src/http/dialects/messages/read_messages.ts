import { invalidField, type JsonFields, notSupported, objectAt, textAt } from "../translated.ts";
import { cacheMark, type Part, readBlock, readContent } from "./read_blocks.ts";

/** A message of the engine, and where the client wrote it. */
export interface ReadMessage {
  readonly message: JsonFields;
  readonly path: string;
}

/** Instructions: in front of the messages, or between them. */
export function readSystem(system: unknown, path: string): ReadMessage[] {
  if (system === undefined || system === null || system === "") return [];
  const content = readContent(system, path);
  return [{ message: { role: "system", content: shortest(content) }, path }];
}

export function readMessages(messages: readonly unknown[]): ReadMessage[] {
  return messages.flatMap((value, at) => {
    const path = `messages.${at}`;
    const { role, content } = objectAt(value, path);
    if (role === "user") return readUser(content, path);
    if (role === "assistant") return [readAssistant(content, path)];
    if (role === "system") return readSystem(content, `${path}.content`);
    throw invalidField(`${path}.role`, "must be user or assistant");
  });
}

/** Results of tools are messages of their own, before what the user says. */
function readUser(content: unknown, path: string): ReadMessage[] {
  if (!Array.isArray(content)) return [userMessage(readContent(content, `${path}.content`), path)];
  const results: ReadMessage[] = [];
  const parts: Part[] = [];
  for (const [at, value] of content.entries()) {
    const here = `${path}.content.${at}`;
    const block = objectAt(value, here);
    if (block.type === "tool_result") results.push(readResult(block, here));
    else parts.push(...readBlock(block, here));
  }
  return parts.length > 0 || results.length === 0
    ? [...results, userMessage(parts, path)]
    : results;
}

function userMessage(parts: readonly Part[], path: string): ReadMessage {
  return { message: { role: "user", content: shortest(parts) }, path };
}

function readResult(block: JsonFields, path: string): ReadMessage {
  const { content = "", is_error } = block;
  return {
    message: {
      role: "tool",
      tool_call_id: textAt(block, "tool_use_id", path),
      content: shortest(readContent(content ?? "", `${path}.content`)),
      ...(is_error === true ? { is_error } : {}),
      ...cacheMark(block),
    },
    path,
  };
}

function readAssistant(content: unknown, path: string): ReadMessage {
  if (!Array.isArray(content)) {
    const parts = readContent(content, `${path}.content`);
    return { message: { role: "assistant", content: shortest(parts) }, path };
  }
  const parts: Part[] = [];
  const calls: JsonFields[] = [];
  for (const [at, value] of content.entries()) {
    const here = `${path}.content.${at}`;
    const block = objectAt(value, here);
    if (block.type === "tool_use") calls.push(readCall(block, here));
    else parts.push(readSaid(block, here));
  }
  const said = parts.length > 0 || calls.length === 0 ? { content: shortest(parts) } : {};
  const called = calls.length > 0 ? { tool_calls: calls } : {};
  return { message: { role: "assistant", ...said, ...called }, path };
}

function readSaid(block: JsonFields, path: string): Part {
  switch (block.type) {
    case "text":
      return { type: "text", text: textAt(block, "text", path), ...cacheMark(block) };
    case "thinking": {
      const signature = typeof block.signature === "string" && block.signature !== ""
        ? { signature: block.signature }
        : {};
      return { type: "thinking", thinking: textAt(block, "thinking", path), ...signature };
    }
    case "redacted_thinking":
      return { type: "redacted_thinking", data: textAt(block, "data", path) };
    default:
      throw notSupported(
        `${path}.type`,
        "must be text, thinking, redacted_thinking or tool_use in a message of the assistant",
      );
  }
}

function readCall(block: JsonFields, path: string): JsonFields {
  return {
    id: textAt(block, "id", path),
    type: "function",
    function: {
      name: textAt(block, "name", path),
      arguments: JSON.stringify(block.input ?? {}),
    },
    ...cacheMark(block),
  };
}

/** A text alone is sent as a string: not every server takes parts. */
function shortest(parts: readonly Part[]): string | readonly Part[] {
  if (parts.length === 0) return "";
  const [first] = parts;
  const isPlain = parts.length === 1 && first!.type === "text" && !("cache_control" in first!);
  return isPlain ? first!.text as string : parts;
}
