import { concatBytes } from "../../src/lib/bytes.ts";
import type { ChatEvent } from "./chat.ts";
import type { Directives } from "./directives.ts";
import { errorOf, type WireError } from "./wire_error.ts";

/** A response, decided and encoded, with the times at which its parts are sent. */
export interface ResponsePlan {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Before the response starts; `Infinity` for never. */
  readonly delayMs: number;
  readonly parts: readonly BodyPart[];
  readonly ending: Ending;
  /** Whether the response takes time, so that the caller's signal must be watched. */
  readonly isTimed: boolean;
}

/** Bytes that are sent together, `pauseMs` after the part before. */
export interface BodyPart {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly pauseMs: number;
}

/**
 * What happens after the last part: the response ends, the connection breaks, nothing more is sent, or
 * these parts repeat for ever. "refuse": the connection is refused. "no_answer": the request is read and the
 * connection closed.
 */
export type Ending =
  | "close"
  | "break"
  | "silence"
  | "refuse"
  | "no_answer"
  | { readonly again: readonly BodyPart[] };

interface PlanOptions {
  /** The content type; JSON by default. */
  type?: string;
  status?: number;
  headers?: Record<string, string>;
  spentMs?: number;
}

const JSON_TYPE = "application/json";
const EVENTS_TYPE = "text/event-stream; charset=utf-8";
/** Keeps an endless response from blocking the event loop. */
const ENDLESS_PAUSE_MS = 1;
const GARBAGE =
  '{"id":"chatcmpl-","object":"chat.completion.chunk","choices":[{"index":0,"del\u0000<<<';
const PAGE = "<!doctype html>\n<html><head><title>502 Bad Gateway</title></head>" +
  "<body><center><h1>502 Bad Gateway</h1></center></body></html>\n";

/** Splitting a huge response into single bytes would take more memory than the response. */
const CHUNKS_MAX = 100_000;

const encoder = new TextEncoder();

export function planError(error: WireError, directives: Directives = {}): ResponsePlan {
  const headers: Record<string, string> = {};
  const retryAfter = directives.retry_after ?? (error.status === 429 ? "1" : undefined);
  if (retryAfter !== undefined) headers["retry-after"] = retryAfter;
  return makePlan(directives, { parts: [partOf(error.body)], status: error.status, headers });
}

/** The plan for directives that respond before any work is done; null without such a directive. */
export function planWithoutWork(directives: Directives): ResponsePlan | null {
  if (directives.refuse) return makePlan(directives, { parts: [], ending: "refuse" });
  if (directives.html) {
    const parts = [partOf(PAGE)];
    return makePlan(directives, { type: "text/html", parts, status: directives.status ?? 200 });
  }
  return directives.status === undefined ? null : planError(errorOf(directives.status), directives);
}

/** The plan for work that is done while its response is lost; null without such a directive. */
export function planLostAnswer(directives: Directives): ResponsePlan | null {
  if (directives.accept_and_close) return makePlan(directives, { parts: [], ending: "no_answer" });
  return directives.accept_and_answer === undefined
    ? null
    : planError(errorOf(directives.accept_and_answer), directives);
}

/** A response sent at once, after `spentMs`. */
export function planWhole(
  body: string | Uint8Array<ArrayBuffer>,
  directives: Directives,
  options: PlanOptions = {},
): ResponsePlan {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const half = [{ bytes: bytes.subarray(0, bytes.length / 2), pauseMs: 0 }];
  if (directives.error !== undefined) {
    return makePlan(directives, {
      ...options,
      type: JSON_TYPE,
      parts: [partOf(errorOf(500).body)],
    });
  }
  if (directives.cut !== undefined) {
    return makePlan(directives, { ...options, parts: half, ending: "break" });
  }
  if (directives.truncate !== undefined) return makePlan(directives, { ...options, parts: half });
  if (isSilent(directives)) {
    return makePlan(directives, { ...options, parts: half, ending: "silence" });
  }
  if (directives.endless) {
    const ending = { again: [partOf(" ", ENDLESS_PAUSE_MS)] };
    return makePlan(directives, { ...options, parts: half, ending });
  }
  const part = directives.garbage === undefined ? { bytes, pauseMs: 0 } : partOf(GARBAGE);
  return makePlan(directives, { ...options, parts: [part] });
}

/** A response sent event by event. */
export function planStream(events: readonly ChatEvent[], directives: Directives): ResponsePlan {
  const pace = directives.pace ?? 0;
  const framed = (event: ChatEvent, pauseMs = event.isToken ? pace : 0) =>
    partOf(framing(event.data, directives), pauseMs);
  let sent = [...events];
  let ending: Ending = "close";
  if (directives.garbage !== undefined) {
    sent.splice(directives.garbage, 0, { data: GARBAGE, isToken: false });
  }
  if (directives.endless) {
    const tokens = sent.filter((event) => event.isToken);
    if (tokens.length === 0) tokens.push(sent[0]!);
    sent = sent.slice(0, sent.findLastIndex((event) => event.isToken) + 1);
    const pauseMs = Math.max(pace, ENDLESS_PAUSE_MS);
    ending = { again: tokens.map((event) => framed(event, pauseMs)) };
  }
  const length = directives.error ?? directives.cut ?? directives.truncate ??
    (isSilent(directives) ? directives.hang : undefined);
  if (length !== undefined) {
    sent = sent.slice(0, length);
    ending = directives.cut !== undefined ? "break" : isSilent(directives) ? "silence" : "close";
  }
  if (directives.error !== undefined) {
    sent.push({ data: JSON.stringify(JSON.parse(errorOf(500).body)), isToken: false });
    ending = "close";
  }
  const parts = sent.map((event) => framed(event));
  return makePlan(directives, { type: EVENTS_TYPE, parts, ending });
}

function makePlan(
  directives: Directives,
  { type = JSON_TYPE, parts, ending = "close", status = 200, headers, spentMs = 0 }:
    & PlanOptions
    & { parts: readonly BodyPart[]; ending?: Ending },
): ResponsePlan {
  const delayMs = directives.hang === -1 ? Infinity : (directives.latency ?? 0) + spentMs;
  return {
    status,
    headers: {
      "content-type": directives.content_type ?? type,
      "x-request-id": "req_simulated",
      ...headers,
    },
    delayMs,
    parts: split(batch(parts, directives.batch ?? 1), directives.split),
    ending,
    isTimed: delayMs > 0 || ending !== "close" || parts.some((part) => part.pauseMs > 0),
  };
}

function isSilent(directives: Directives): boolean {
  return directives.hang !== undefined && directives.hang >= 0;
}

function partOf(text: string, pauseMs = 0): BodyPart {
  return { bytes: encoder.encode(text), pauseMs };
}

function framing(data: string, { multiline, comments, crlf }: Directives): string {
  let lines = [data];
  if (multiline && data.startsWith("{") && data !== GARBAGE) {
    lines = JSON.stringify(JSON.parse(data), null, 1).split("\n");
  }
  const text = `${comments ? ": comment\n\n" : ""}${
    lines.map((line) => `data: ${line}\n`).join("")
  }\n`;
  return crlf ? text.replaceAll("\n", "\r\n") : text;
}

function batch(parts: readonly BodyPart[], size: number): readonly BodyPart[] {
  if (size === 1) return parts;
  const batches: BodyPart[] = [];
  for (let at = 0; at < parts.length; at += size) {
    const together = parts.slice(at, at + size);
    const bytes = concatBytes(together.map((part) => part.bytes));
    batches.push({ bytes, pauseMs: together.reduce((sum, part) => sum + part.pauseMs, 0) });
  }
  return batches;
}

function split(parts: readonly BodyPart[], wanted: number | undefined): readonly BodyPart[] {
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
