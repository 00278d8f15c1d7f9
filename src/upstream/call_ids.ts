import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { ChatChunk, ChatReply, ChatRequest } from "./adapter.ts";
import { bytesToId, charactersOf, idToBytes, packId, unpackId } from "./pack_call_id.ts";

/** Ids of tool calls as clients see them, and as upstreams gave them. */
export interface CallIds {
  /** Our id for an upstream's id. Deterministic: all events of a stream have the same id. */
  show(id: string, origin: string): string;
  /** The upstream's id for our id; any other id, also one of another upstream, is returned unchanged. */
  restore(id: string, origin: string): string;
}

const PREFIX = "call_";
const OURS = /^call_[A-Za-z0-9]{35,}$/;
const TAG_BYTES = 5;
/** Ids are padded to a multiple of this: their length does not reveal the upstream. */
const BLOCK_BYTES = 21;
/** Longer ids are not decoded: upstreams get ours. */
const ID_MAX = 200;
const BLOCKS_MAX = 12;
const KNOWN_MAX = 10_000;
/** The maximum number of ids decoded per request: limits the work that a client can cause. */
const RESTORED_MAX = 1_000;

/** The number of bytes in an id, by its number of characters. */
const LENGTHS = new Map(
  Array.from({ length: BLOCKS_MAX }, (_, at) => TAG_BYTES + BLOCK_BYTES * (at + 1))
    .map((bytes) => [charactersOf(bytes), bytes]),
);

/**
 * Hides ids by deterministic authenticated encryption (as SIV does it): the tag is a keyed hash of the id
 * and its origin, the rest is the id encrypted with a key stream that starts from the tag. So every node decodes
 * an id with the shared key alone, across restarts; an id that is not ours fails the check of the tag and is
 * returned unchanged, which a plain permutation of characters would not do. A usual id takes 40 characters, the
 * maximum of OpenAI, which leaves 40 bits for the tag. The only secret it protects is the name of the upstream.
 *
 * The origin is the upstream's URL: another upstream gets our id, whose characters all upstreams accept.
 */
export function openCallIds(keys: () => readonly Uint8Array[]): CallIds {
  // A client sends all ids of a conversation with each request.
  const known = new Map<string, { origin: string; id: string }>();
  const remember = (shown: string, origin: string, id: string) => {
    if (id.length > ID_MAX) return;
    if (known.size >= KNOWN_MAX) known.delete(known.keys().next().value!);
    known.set(shown, { origin, id });
  };
  return {
    show(id, origin) {
      // Some servers repeat an empty id on all but the first event.
      if (id === "") return id;
      const shown = seal(id, origin, keys()[0]!);
      remember(shown, origin, id);
      return shown;
    },
    restore(shown, origin) {
      const found = known.get(shown);
      if (found !== undefined) return found.origin === origin ? found.id : shown;
      const opened = open(shown, origin, keys());
      if (opened === null) return shown;
      remember(shown, origin, opened);
      return opened;
    },
  };
}

function seal(id: string, origin: string, key: Uint8Array): string {
  const plain = id.length <= ID_MAX && id.isWellFormed() ? packId(id, BLOCK_BYTES) : null;
  if (plain === null || plain.length > BLOCK_BYTES * BLOCKS_MAX) {
    return PREFIX + bytesToId(oneWay(key, origin, id));
  }
  const tag = tagOf(key, origin, plain);
  return PREFIX + bytesToId(Buffer.concat([tag, masked(key, tag, plain)]));
}

/** The id that was sealed for this origin; null where none was. */
function open(shown: string, origin: string, keys: readonly Uint8Array[]): string | null {
  const bytesMax = OURS.test(shown) ? LENGTHS.get(shown.length - PREFIX.length) : undefined;
  const sealed = bytesMax === undefined ? null : idToBytes(shown.slice(PREFIX.length), bytesMax);
  if (sealed === null) return null;
  const tag = sealed.subarray(0, TAG_BYTES);
  for (const key of keys) {
    const plain = masked(key, tag, sealed.subarray(TAG_BYTES));
    if (tagOf(key, origin, plain).equals(tag)) return unpackId(plain);
  }
  return null;
}

/** The request with the upstream's own ids; the same object where it has no tool calls. */
export function restoreCallIds(ids: CallIds, request: ChatRequest, origin: string): ChatRequest {
  let messages: Record<string, unknown>[] | null = null;
  const restored = new Map<string, string>();
  // An id is in the call and in its result: both change, or neither.
  const restore = (shown: string): string => {
    let id = restored.get(shown);
    if (id !== undefined || restored.size >= RESTORED_MAX) return id ?? shown;
    restored.set(shown, id = ids.restore(shown, origin));
    return id;
  };
  for (let at = 0; at < request.messages.length; at++) {
    const message = request.messages[at]!;
    const { tool_calls, tool_call_id } = message;
    if (tool_calls === undefined && tool_call_id === undefined) continue;
    messages ??= [...request.messages];
    messages[at] = {
      ...message,
      ...(typeof tool_call_id === "string" ? { tool_call_id: restore(tool_call_id) } : {}),
      ...(Array.isArray(tool_calls)
        ? { tool_calls: tool_calls.map((call) => withId(call, restore)) }
        : {}),
    };
  }
  return messages === null ? request : { ...request, messages };
}

/** The answer with our ids. */
export function showReplyIds(ids: CallIds, reply: ChatReply, origin: string): ChatReply {
  if (!reply.choices.some(({ message }) => message.tool_calls !== undefined)) return reply;
  const choices = reply.choices.map((choice) => {
    const { tool_calls } = choice.message;
    if (tool_calls === undefined) return choice;
    const shown = tool_calls.map((call) => withId(call, (id) => ids.show(id, origin)));
    return { ...choice, message: { ...choice.message, tool_calls: shown } };
  });
  return { ...reply, choices };
}

/** The chunk with our ids. */
export function showChunkIds(ids: CallIds, chunk: ChatChunk, origin: string): ChatChunk {
  if (!chunk.choices.some(({ delta }) => delta.tool_calls !== undefined)) return chunk;
  const choices = chunk.choices.map((choice) => {
    const { tool_calls } = choice.delta;
    if (tool_calls === undefined) return choice;
    const shown = tool_calls.map((call) => withId(call, (id) => ids.show(id, origin)));
    return { ...choice, delta: { ...choice.delta, tool_calls: shown } };
  });
  return { ...chunk, choices };
}

function withId<T extends { readonly id?: unknown }>(call: T, change: (id: string) => string): T {
  return typeof call.id === "string" ? { ...call, id: change(call.id) } : call;
}

function tagOf(key: Uint8Array, origin: string, plain: Uint8Array): Buffer {
  return digest(key, `tag\0${origin}\0`, plain).subarray(0, TAG_BYTES);
}

/** Encrypts and decrypts: both apply the same key stream. */
function masked(key: Uint8Array, tag: Uint8Array, bytes: Uint8Array): Buffer {
  const result = Buffer.alloc(bytes.length);
  for (let from = 0; from < bytes.length; from += 32) {
    const stream = digest(key, `stream\0${from}\0`, tag);
    for (let at = from; at < Math.min(bytes.length, from + 32); at++) {
      result[at] = bytes[at]! ^ stream[at - from]!;
    }
  }
  return result;
}

function oneWay(key: Uint8Array, origin: string, id: string): Buffer {
  return digest(key, `one way\0${origin}\0`, id).subarray(0, TAG_BYTES + BLOCK_BYTES);
}

/** A hash with the key as prefix, truncated: as secure as an HMAC here, at a quarter of its cost. */
function digest(key: Uint8Array, purpose: string, rest: Uint8Array | string): Buffer {
  return createHash("sha256").update(key).update(purpose).update(rest).digest();
}
