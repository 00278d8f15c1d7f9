import type { ChatRequest } from "../../upstream/adapter.ts";

import { PART_FIELDS } from "./check_parts.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Fields of a message that are sent to an upstream, by role. Clients send assistant messages back as they got
 * them, and some add fields of their own: those are dropped, because no check and no price covers them.
 */
const MESSAGE_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  system: new Set(["role", "content", "name"]),
  developer: new Set(["role", "content", "name"]),
  user: new Set(["role", "content", "name"]),
  assistant: new Set([
    ...["role", "content", "name", "refusal", "reasoning_content", "tool_calls", "function_call"],
  ]),
  tool: new Set(["role", "content", "name", "tool_call_id", "is_error", "cache_control"]),
  function: new Set(["role", "content", "name"]),
};
const CALL_FIELDS = new Set(["id", "type", "function", "cache_control"]);
const CALLED_FIELDS = new Set(["name", "arguments"]);
const TOOL_FIELDS = new Set(["type", "function", "cache_control"]);
const FUNCTION_FIELDS = new Set(["name", "description", "parameters", "strict"]);

/**
 * The request with OpenAI's fields only in messages and tools, and marks for a cache where it is used; the same
 * object where it has no others.
 */
export function cleanRequest(asked: ChatRequest, { caches }: { caches: boolean }): ChatRequest {
  const mark = caches ? cleanMark : unmark;
  const request = mark(asked) as ChatRequest;
  const messages = each(request.messages, (message) => cleanMessage(message, mark));
  const tools = each(request.tools, (tool) => mark(cleanTool(tool)));
  const functions = each(request.functions, (one) => only(one, FUNCTION_FIELDS));
  if (
    messages === request.messages && tools === request.tools && functions === request.functions
  ) return request;
  return {
    ...request,
    messages,
    ...(tools === undefined ? {} : { tools }),
    ...(functions === undefined ? {} : { functions }),
  };
}

/** What becomes of `cache_control`. */
type Mark = (fields: Fields) => Fields;

function cleanMessage(message: Fields, mark: Mark): Fields {
  let clean = mark(only(message, MESSAGE_FIELDS[message.role as string] ?? MESSAGE_FIELDS.user!));
  clean = withField(clean, "content", (content) => each(content, (part) => mark(cleanPart(part))));
  clean = withField(clean, "tool_calls", (calls) => each(calls, (call) => mark(cleanCall(call))));
  return withField(clean, "function_call", (called) => only(called as Fields, CALLED_FIELDS));
}

/** The fields of a checked part that its type has, without nulls. */
function cleanPart(part: Fields): Fields {
  const known = PART_FIELDS[part.type as string]!;
  for (const name in part) {
    if (known.has(name) && part[name] !== null) continue;
    const kept = Object.entries(part).filter(([name, value]) => known.has(name) && value !== null);
    return Object.fromEntries(kept);
  }
  return part;
}

/** A mark that no provider knows is left out: nothing depends on it. */
function cleanMark(fields: Fields): Fields {
  const { cache_control: hint, ...rest } = fields;
  if (hint === undefined) return fields;
  const { type, ttl = "5m" } = (hint ?? {}) as Fields;
  if (type !== "ephemeral" || ttl !== "5m" && ttl !== "1h") return rest;
  const cache_control = ttl === "5m" ? { type } : { type, ttl };
  return { ...rest, cache_control };
}

function unmark(fields: Fields): Fields {
  if (fields.cache_control === undefined) return fields;
  const { cache_control: _, ...rest } = fields;
  return rest;
}

function cleanCall(call: Fields): Fields {
  return withField(
    only(call, CALL_FIELDS),
    "function",
    (one) => only(one as Fields, CALLED_FIELDS),
  );
}

/** Tools of other types are rejected by the adapter. */
function cleanTool(tool: Fields): Fields {
  if (tool.type !== "function") return tool;
  const clean = only(tool, TOOL_FIELDS);
  return withField(clean, "function", (one) => only(one as Fields, FUNCTION_FIELDS));
}

function withField(fields: Fields, name: string, clean: (value: unknown) => unknown): Fields {
  const value = fields[name];
  if (typeof value !== "object" || value === null) return fields;
  const cleaned = clean(value);
  return cleaned === value ? fields : { ...fields, [name]: cleaned };
}

function only(fields: Fields, known: ReadonlySet<string>): Fields {
  if (typeof fields !== "object" || fields === null) return fields;
  for (const name in fields) {
    if (known.has(name)) continue;
    return Object.fromEntries(Object.entries(fields).filter(([field]) => known.has(field)));
  }
  return fields;
}

/** The list with each entry cleaned; the list itself where nothing changed. */
function each<T>(list: T, clean: (entry: Fields) => Fields): T {
  if (!Array.isArray(list)) return list;
  let copy: Fields[] | null = null;
  for (let at = 0; at < list.length; at++) {
    const cleaned = clean(list[at]);
    if (cleaned === list[at]) continue;
    copy ??= [...list];
    copy[at] = cleaned;
  }
  return copy === null ? list : copy as T;
}
