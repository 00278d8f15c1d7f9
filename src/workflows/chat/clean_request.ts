import type { ChatRequest } from "../../upstream/adapter.ts";

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
  tool: new Set(["role", "content", "name", "tool_call_id"]),
  function: new Set(["role", "content", "name"]),
};
const CALL_FIELDS = new Set(["id", "type", "function"]);
const CALLED_FIELDS = new Set(["name", "arguments"]);
const TOOL_FIELDS = new Set(["type", "function"]);
const FUNCTION_FIELDS = new Set(["name", "description", "parameters", "strict"]);

/**
 * The request with OpenAI's fields only in messages and tools, and marks for a cache where it is used; the same
 * object where it has no others.
 */
export function cleanRequest(request: ChatRequest, { caches }: { caches: boolean }): ChatRequest {
  const cleanPart = caches ? cleanMarkedPart : cleanUnmarkedPart;
  const messages = each(request.messages, (message) => cleanMessage(message, cleanPart));
  const tools = each(request.tools, cleanTool);
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

function cleanMessage(message: Fields, cleanPart: (part: Fields) => Fields): Fields {
  let clean = only(message, MESSAGE_FIELDS[message.role as string] ?? MESSAGE_FIELDS.user!);
  clean = withField(clean, "content", (content) => each(content, cleanPart));
  clean = withField(clean, "tool_calls", (calls) => each(calls, cleanCall));
  return withField(clean, "function_call", (called) => only(called as Fields, CALLED_FIELDS));
}

/** In a checked part only nulls are left to remove. */
function cleanMarkedPart(part: Fields): Fields {
  for (const name in part) {
    if (part[name] !== null) continue;
    return Object.fromEntries(Object.entries(part).filter(([, value]) => value !== null));
  }
  return part;
}

function cleanUnmarkedPart(part: Fields): Fields {
  if (part.cache_control === undefined) return cleanMarkedPart(part);
  const { cache_control: _, ...rest } = part;
  return cleanMarkedPart(rest);
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
