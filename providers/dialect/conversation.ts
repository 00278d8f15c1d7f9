import { ApiError } from "../../src/lib/api_error.ts";
import type { ChatRequest } from "../../src/upstream/adapter.ts";
import { type Json, record, records, text } from "./json.ts";
import { refuse } from "./write.ts";

/** A request's messages, for providers whose API has alternating turns. */
export interface Conversation {
  /** Texts of the system and developer messages of the whole request, in their order. */
  readonly system: readonly Text[];
  /** Alternating turns of user and assistant; never empty. */
  readonly turns: readonly Turn[];
}

export interface Turn {
  readonly role: "user" | "assistant";
  readonly parts: readonly Part[];
}

/** `param` is its path in the client's request, for errors. */
export type Part = Text | Bytes | Link | Call | Result;

/** Content of a message. */
type Content = Text | Bytes | Link;

interface Cacheable {
  /** The client's `cache_control`: the provider is to cache the prompt up to here. */
  readonly cache?: Json;
}

export interface Text extends Cacheable {
  readonly kind: "text";
  readonly text: string;
}
export interface Bytes extends Cacheable {
  readonly kind: "bytes";
  readonly mime: string;
  readonly base64: string;
  readonly param: string;
}
export interface Link extends Cacheable {
  readonly kind: "link";
  readonly url: string;
  readonly param: string;
}
export interface Call {
  readonly kind: "call";
  readonly id: string;
  readonly name: string;
  readonly input: Json;
}
export interface Result extends Cacheable {
  readonly kind: "result";
  readonly id: string;
  /** The name of the tool that was called with this id. */
  readonly name: string;
  readonly parts: readonly Content[];
}

export function conversationOf(request: ChatRequest): Conversation {
  const system: Text[] = [];
  const turns: { role: Turn["role"]; parts: Part[] }[] = [];
  const names = new Map<string, string>();

  const add = (role: Turn["role"], parts: readonly Part[]) => {
    if (parts.length === 0) return;
    const last = turns.at(-1);
    // Results of parallel calls belong to one turn, and so do successive messages of one role.
    if (last?.role === role) last.parts.push(...parts);
    else turns.push({ role, parts: [...parts] });
  };

  for (const [at, message] of request.messages.entries()) {
    const param = `messages.${at}`;
    switch (message.role) {
      case "system":
      case "developer":
        system.push(...textsOf(message.content));
        break;
      case "user":
        add("user", partsOf(message.content, `${param}.content`));
        break;
      case "assistant": {
        const calls = callsOf(message, param);
        for (const call of calls) names.set(call.id, call.name);
        add("assistant", [...partsOf(message.content ?? message.refusal, param), ...calls]);
        break;
      }
      case "tool": {
        const id = text(message.tool_call_id) ?? "";
        const parts = partsOf(message.content, `${param}.content`);
        add("user", [resultOf({ kind: "result", id, name: names.get(id) ?? id, parts })]);
        break;
      }
      default:
        refuse(`${param}.role`, "This model takes tools and tool messages, not functions.");
    }
  }
  // Without user and assistant messages, the system prompt becomes the first user turn.
  if (turns.length === 0) return { system: [], turns: [opening(joinTexts(system))] };
  return { system, turns };
}

function opening(prompt: string): Turn {
  return { role: "user", parts: [{ kind: "text", text: prompt }] };
}

export function joinTexts(texts: readonly Text[]): string {
  return texts.map((part) => part.text).join("\n");
}

function textsOf(content: unknown): Text[] {
  const parts = typeof content === "string" ? [{ text: content }] : records(content);
  return parts.flatMap((part) => {
    const found = text(part.text) ?? "";
    return found === "" ? [] : [withCache<Text>({ kind: "text", text: found }, part)];
  });
}

function withCache<Kind extends Cacheable>(content: Kind, part: Json): Kind {
  const cache = record(part.cache_control);
  return cache === null ? content : { ...content, cache };
}

/** A mark inside of a tool's result is one of the whole result: providers cache no part of it. */
function resultOf(result: Result): Result {
  const cache = result.parts.findLast((part) => part.cache !== undefined)?.cache;
  if (cache === undefined) return result;
  const parts = result.parts.map(({ cache: _, ...part }) => part as Content);
  return { ...result, parts, cache };
}

function partsOf(content: unknown, param: string): Content[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }];
  return records(content).flatMap((part, at) =>
    partOf(part, `${param}.${at}`).map((read) => withCache(read, part))
  );
}

function partOf(part: Json, param: string): Content[] {
  switch (part.type) {
    case "text":
    case "refusal": {
      const content = text(part.text) ?? text(part.refusal) ?? "";
      return content === "" ? [] : [{ kind: "text", text: content }];
    }
    case "image_url":
      return [fromUrl(record(part.image_url)?.url, `${param}.image_url.url`)];
    case "input_audio": {
      const audio = record(part.input_audio);
      const [mime, base64] = [`audio/${audio?.format}`, text(audio?.data) ?? ""];
      return [{ kind: "bytes", mime, base64, param }];
    }
    case "file": {
      const data = record(part.file)?.file_data;
      if (typeof data === "string") return [fromUrl(data, `${param}.file.file_data`)];
    }
  }
  refuse(param, "This model does not take this kind of content.");
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w-]+=[^;,]*)*;base64,/;

function fromUrl(url: unknown, param: string): Bytes | Link {
  if (typeof url === "string" && /^https?:\/\//.test(url)) return { kind: "link", url, param };
  // Matches the beginning only: a data URL may have megabytes.
  const head = typeof url === "string" ? DATA_URL.exec(url.slice(0, 256)) : null;
  if (head === null) {
    throw new ApiError("invalid_value", "Expected an https address or a base64 data URL.", {
      param,
    });
  }
  return { kind: "bytes", mime: head[1]!, base64: (url as string).slice(head[0].length), param };
}

function callsOf(message: Json, param: string): Call[] {
  return records(message.tool_calls).map((call, at) => {
    const called = record(call.function);
    return {
      kind: "call",
      id: text(call.id) ?? "",
      name: text(called?.name) ?? "",
      input: inputOf(called?.arguments, `${param}.tool_calls.${at}.function.arguments`),
    };
  });
}

function inputOf(written: unknown, param: string): Json {
  if (written === undefined || written === "") return {};
  try {
    const input = record(JSON.parse(String(written)));
    if (input !== null) return input;
  } catch {
    // The error below also covers text that is not JSON.
  }
  throw new ApiError("invalid_value", "Expected the arguments as a JSON object.", { param });
}
