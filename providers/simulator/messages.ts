import {
  isJsonObject,
  type JsonObject,
  missing,
  readList,
  readString,
  wrongType,
  wrongValue,
} from "./fields.ts";
import { WireError } from "./wire_error.ts";

/** A message of the conversation, reduced to what the simulator uses. */
export interface Message {
  readonly role: string;
  readonly name: string | null;
  readonly text: string;
  readonly images: number;
  /** Audio files and documents. */
  readonly files: number;
  readonly calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments: string;
  }[];
  /** The call that a tool's message answers. */
  readonly answers: string | null;
}

const ROLES = ["system", "assistant", "user", "function", "tool", "developer"];
const PARTS = ["text", "image_url", "input_audio", "refusal", "audio", "file"];

export function readMessages(body: JsonObject): Message[] {
  const list = readList(body, "messages");
  if (list === null) throw missing("messages");
  if (list.length === 0) {
    throw new WireError(
      400,
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      "messages",
      "empty_array",
    );
  }
  const messages = list.map((item, at) => readMessage(item, `messages[${at}]`));
  checkToolTurns(messages);
  return messages;
}

function readMessage(item: unknown, path: string): Message {
  if (!isJsonObject(item)) throw wrongType(path, "an object", item);
  const role = readString(item, "role", `${path}.role`);
  if (role === null) throw missing(`${path}.role`);
  if (!ROLES.includes(role)) throw wrongValue(`${path}.role`, role, ROLES);
  const calls = role === "assistant" ? readCalls(item, path) : [];
  const answers = role === "tool" ? readString(item, "tool_call_id", `${path}.tool_call_id`) : null;
  if (role === "tool" && answers === null) throw missing(`${path}.tool_call_id`);
  const mayBeEmpty = role === "assistant" &&
    (calls.length > 0 || isPresent(item.refusal) || isPresent(item.function_call) ||
      isPresent(item.audio));
  return {
    role,
    name: readString(item, "name", `${path}.name`),
    calls,
    answers,
    ...readContent(item.content ?? null, `${path}.content`, mayBeEmpty),
  };
}

function readContent(
  content: unknown,
  path: string,
  mayBeEmpty: boolean,
): Pick<Message, "text" | "images" | "files"> {
  if (typeof content === "string") return { text: content, images: 0, files: 0 };
  if (content === null && mayBeEmpty) return { text: "", images: 0, files: 0 };
  if (!Array.isArray(content)) {
    throw new WireError(
      400,
      `Invalid value for 'content': expected a string, got ${
        content === null ? "null" : typeof content
      }.`,
      path,
    );
  }
  const texts: string[] = [];
  let [images, files] = [0, 0];
  for (const [at, part] of content.entries()) {
    const here = `${path}[${at}]`;
    if (!isJsonObject(part)) throw wrongType(here, "an object", part);
    const type = readString(part, "type", `${here}.type`);
    if (type === null) throw missing(`${here}.type`);
    if (!PARTS.includes(type)) throw wrongValue(`${here}.type`, type, PARTS);
    if (type === "text") texts.push(needString(part, "text", here));
    else if (type === "refusal") texts.push(needString(part, "refusal", here));
    else if (type === "image_url") {
      needString(needObject(part, "image_url", here), "url", `${here}.image_url`);
      images++;
    } else {
      needObject(part, type, here);
      files++;
    }
  }
  return { text: texts.join("\n"), images, files };
}

function readCalls(item: JsonObject, path: string): Message["calls"] {
  return (readList(item, "tool_calls", `${path}.tool_calls`) ?? []).map((call, at) => {
    const here = `${path}.tool_calls[${at}]`;
    if (!isJsonObject(call)) throw wrongType(here, "an object", call);
    const id = needString(call, "id", here);
    if (call.type === "custom") {
      const custom = needObject(call, "custom", here);
      return {
        id,
        name: needString(custom, "name", `${here}.custom`),
        arguments: needString(custom, "input", `${here}.custom`),
      };
    }
    const called = needObject(call, "function", here);
    return {
      id,
      name: needString(called, "name", `${here}.function`),
      arguments: needString(called, "arguments", `${here}.function`),
    };
  });
}

/** A tool message must follow its call, and a call must be followed by its tool messages. */
function checkToolTurns(messages: readonly Message[]): void {
  let open = new Set<string>();
  for (const [at, message] of messages.entries()) {
    if (message.role === "tool") {
      // Several tool messages for one call are accepted.
      if (!answersCall(messages, at)) {
        throw new WireError(
          400,
          "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
          `messages.[${at}].role`,
        );
      }
      open.delete(message.answers!);
      continue;
    }
    if (open.size > 0) break;
    open = new Set(message.calls.map((call) => call.id));
  }
  if (open.size === 0) return;
  throw new WireError(
    400,
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each " +
      `'tool_call_id'. The following tool_call_ids did not have response messages: ${
        [...open].join(", ")
      }`,
    "messages",
  );
}

function answersCall(messages: readonly Message[], at: number): boolean {
  let before = at - 1;
  while (before >= 0 && messages[before]!.role === "tool") before--;
  return messages[before]?.calls.some((call) => call.id === messages[at]!.answers) ?? false;
}

function needString(fields: JsonObject, name: string, path: string): string {
  const value = readString(fields, name, `${path}.${name}`);
  if (value === null) throw missing(`${path}.${name}`);
  return value;
}

function needObject(fields: JsonObject, name: string, path: string): JsonObject {
  const value = fields[name] ?? null;
  if (value === null) throw missing(`${path}.${name}`);
  if (!isJsonObject(value)) throw wrongType(`${path}.${name}`, "an object", value);
  return value;
}

const isPresent = (value: unknown) => value !== undefined && value !== null;
