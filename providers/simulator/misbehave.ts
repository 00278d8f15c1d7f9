import { concatBytes } from "../../src/lib/bytes.ts";
import type { ChatEvent } from "./chat.ts";
import type { Orders } from "./directives.ts";
import { errorOf, type WireError } from "./wire_error.ts";

/** An answer as it will go over the wire: everything is decided and encoded, only time is missing. */
export interface Plan {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Before anything is answered; `Infinity` for never. */
  readonly delayMs: number;
  readonly parts: readonly Part[];
  readonly ending: Ending;
  /** Whether anything takes time or goes on, so that a caller who leaves must be listened for. */
  readonly isTimed: boolean;
}

/** Bytes that leave together, `pauseMs` after those before them. */
export interface Part {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly pauseMs: number;
}

/**
 * What happens after the last part: the end, a broken connection, silence, or these parts again for
 * ever. "refuse": nothing is taken. "no_answer": the request is taken and the connection closed.
 */
export type Ending =
  | "close"
  | "break"
  | "silence"
  | "refuse"
  | "no_answer"
  | { readonly again: readonly Part[] };

interface PlanOptions {
  status?: number;
  headers?: Record<string, string>;
  spentMs?: number;
}

const JSON_TYPE = "application/json";
const EVENTS_TYPE = "text/event-stream; charset=utf-8";
/** Goes on for ever, and yet lets others have their turn. */
const ENDLESS_PAUSE_MS = 1;
const GARBAGE =
  '{"id":"chatcmpl-","object":"chat.completion.chunk","choices":[{"index":0,"del\u0000<<<';
const PAGE = "<!doctype html>\n<html><head><title>502 Bad Gateway</title></head>" +
  "<body><center><h1>502 Bad Gateway</h1></center></body></html>\n";

/** Splitting a huge answer into single bytes would take more memory than the answer. */
const CHUNKS_MAX = 100_000;

const encoder = new TextEncoder();

export function planError(error: WireError, orders: Orders = {}): Plan {
  const headers: Record<string, string> = {};
  const retryAfter = orders.retry_after ?? (error.status === 429 ? "1" : undefined);
  if (retryAfter !== undefined) headers["retry-after"] = retryAfter;
  return plan(orders, JSON_TYPE, [partOf(error.body)], "close", { status: error.status, headers });
}

/** The plan for orders that leave no room for an answer; null where there is one to give. */
export function planRefusal(orders: Orders): Plan | null {
  if (orders.refuse) return plan(orders, JSON_TYPE, [], "refuse");
  if (orders.html) {
    return plan(orders, "text/html", [partOf(PAGE)], "close", { status: orders.status ?? 200 });
  }
  return orders.status === undefined ? null : planError(errorOf(orders.status), orders);
}

/** The plan for work that is done without its caller learning so; null where it does. */
export function planUntold(orders: Orders): Plan | null {
  if (orders.accept_and_close) return plan(orders, JSON_TYPE, [], "no_answer");
  return orders.accept_and_answer === undefined
    ? null
    : planError(errorOf(orders.accept_and_answer), orders);
}

/** An answer sent whole, after the time that making it takes. */
export function planWhole(
  body: string | Uint8Array<ArrayBuffer>,
  orders: Orders,
  { type = JSON_TYPE, ...rest }: { type?: string } & PlanOptions = {},
): Plan {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const half = [{ bytes: bytes.subarray(0, bytes.length / 2), pauseMs: 0 }];
  if (orders.error !== undefined) {
    return plan(orders, JSON_TYPE, [partOf(errorOf(500).body)], "close", rest);
  }
  if (orders.cut !== undefined) return plan(orders, type, half, "break", rest);
  if (orders.truncate !== undefined) return plan(orders, type, half, "close", rest);
  if (isSilent(orders)) return plan(orders, type, half, "silence", rest);
  if (orders.endless) {
    return plan(orders, type, half, { again: [partOf(" ", ENDLESS_PAUSE_MS)] }, rest);
  }
  const part = orders.garbage === undefined ? { bytes, pauseMs: 0 } : partOf(GARBAGE);
  return plan(orders, type, [part], "close", rest);
}

/** An answer sent event by event. */
export function planStream(events: readonly ChatEvent[], orders: Orders): Plan {
  const pace = orders.pace ?? 0;
  const framed = (event: ChatEvent, pauseMs = event.isToken ? pace : 0) =>
    partOf(framing(event.data, orders), pauseMs);
  let told = [...events];
  let ending: Ending = "close";
  if (orders.garbage !== undefined) {
    told.splice(orders.garbage, 0, { data: GARBAGE, isToken: false });
  }
  if (orders.endless) {
    const words = told.filter((event) => event.isToken);
    if (words.length === 0) words.push(told[0]!);
    told = told.slice(0, told.findLastIndex((event) => event.isToken) + 1);
    const pauseMs = Math.max(pace, ENDLESS_PAUSE_MS);
    ending = { again: words.map((event) => framed(event, pauseMs)) };
  }
  const length = orders.error ?? orders.cut ?? orders.truncate ??
    (isSilent(orders) ? orders.hang : undefined);
  if (length !== undefined) {
    told = told.slice(0, length);
    ending = orders.cut !== undefined ? "break" : isSilent(orders) ? "silence" : "close";
  }
  if (orders.error !== undefined) {
    told.push({ data: JSON.stringify(JSON.parse(errorOf(500).body)), isToken: false });
    ending = "close";
  }
  return plan(orders, EVENTS_TYPE, told.map((event) => framed(event)), ending);
}

function plan(
  orders: Orders,
  type: string,
  parts: readonly Part[],
  ending: Ending,
  { status = 200, headers = {}, spentMs = 0 }: PlanOptions = {},
): Plan {
  const delayMs = orders.hang === -1 ? Infinity : (orders.latency ?? 0) + spentMs;
  return {
    status,
    headers: {
      "content-type": orders.content_type ?? type,
      "x-request-id": "req_simulated",
      ...headers,
    },
    delayMs,
    parts: split(batch(parts, orders.batch ?? 1), orders.split),
    ending,
    isTimed: delayMs > 0 || ending !== "close" || parts.some((part) => part.pauseMs > 0),
  };
}

function isSilent(orders: Orders): boolean {
  return orders.hang !== undefined && orders.hang >= 0;
}

function partOf(text: string, pauseMs = 0): Part {
  return { bytes: encoder.encode(text), pauseMs };
}

function framing(data: string, { multiline, comments, crlf }: Orders): string {
  let lines = [data];
  if (multiline && data.startsWith("{") && data !== GARBAGE) {
    lines = JSON.stringify(JSON.parse(data), null, 1).split("\n");
  }
  const text = `${comments ? ": the simulator is thinking\n\n" : ""}${
    lines.map((line) => `data: ${line}\n`).join("")
  }\n`;
  return crlf ? text.replaceAll("\n", "\r\n") : text;
}

function batch(parts: readonly Part[], size: number): readonly Part[] {
  if (size === 1) return parts;
  const batches: Part[] = [];
  for (let at = 0; at < parts.length; at += size) {
    const together = parts.slice(at, at + size);
    const bytes = concatBytes(together.map((part) => part.bytes));
    batches.push({ bytes, pauseMs: together.reduce((sum, part) => sum + part.pauseMs, 0) });
  }
  return batches;
}

function split(parts: readonly Part[], wanted: number | undefined): readonly Part[] {
  if (wanted === undefined) return parts;
  const total = parts.reduce((sum, part) => sum + part.bytes.length, 0);
  const size = Math.max(wanted, Math.ceil(total / CHUNKS_MAX));
  return parts.flatMap(({ bytes, pauseMs }) =>
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => ({
      bytes: bytes.subarray(at * size, (at + 1) * size),
      pauseMs: at === 0 ? pauseMs : 0,
    }))
  );
}
