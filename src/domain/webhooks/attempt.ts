import type { ClaimedDelivery } from "./claim.ts";
import { renderPayload } from "./event.ts";
import { signedHeaders } from "./sign.ts";
import { withTimeout } from "../../lib/timers.ts";

/** What of `outbound` is needed here: one request to an address that a stranger chose. */
export interface WebhookPost {
  (request: {
    url: string;
    method: "POST";
    headers: Readonly<Record<string, string>>;
    body: string;
    timeoutMs: number;
    connectTimeoutMs: number;
    bytesMax: number;
    signal: AbortSignal;
  }): Promise<
    {
      status: number;
      headers: Headers;
      body: ReadableStream<Uint8Array> | null;
      dispose(): void;
    }
  >;
}

/** What one attempt saw. */
export interface AttemptResult {
  /** Null when there was no answer; then `error` says why. */
  readonly status: number | null;
  readonly error: string | null;
  /** The first of the answer, as text. */
  readonly response: string | null;
  readonly latencyMs: number;
  /** What the receiver asked for. */
  readonly retryAfterSeconds: number | null;
}

const CONNECT_TIMEOUT_MS = 5_000;
const RESPONSE_BYTES_KEPT = 4_096;
/** The answer's head decides; what follows is for the log, and not waited for longer than this. */
const RESPONSE_MS_MAX = 1_000;

/** Sends an event once. Never throws: whatever goes wrong is what was seen. */
export async function attemptDelivery(
  post: WebhookPost,
  delivery: Pick<ClaimedDelivery, "url" | "event">,
  options: { secrets: readonly string[]; timeoutMs: number; signal: AbortSignal },
): Promise<AttemptResult> {
  const body = renderPayload(delivery.event);
  const startedAt = performance.now();
  const latencyMs = () => Math.round(performance.now() - startedAt);
  try {
    const answer = await post({
      url: delivery.url,
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "Tollgate-Webhooks/1",
        ...signedHeaders(
          options.secrets,
          delivery.event.id,
          Math.floor(Date.now() / 1000),
          body,
        ),
      },
      body,
      timeoutMs: options.timeoutMs,
      connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, options.timeoutMs),
      bytesMax: Infinity,
      signal: options.signal,
    });
    const answeredMs = latencyMs();
    try {
      return {
        status: answer.status,
        error: null,
        response: answer.body === null ? "" : await readStart(answer.body),
        latencyMs: answeredMs,
        retryAfterSeconds: readRetryAfter(answer.headers.get("retry-after")),
      };
    } finally {
      answer.dispose();
    }
  } catch (error) {
    return {
      status: null,
      error: error instanceof Error ? error.message : String(error),
      response: null,
      latencyMs: latencyMs(),
      retryAfterSeconds: null,
    };
  }
}

/** The first bytes of a body, as far as they come without much waiting. */
async function readStart(body: ReadableStream<Uint8Array>): Promise<string> {
  const reader = body.getReader();
  const bytes = new Uint8Array(RESPONSE_BYTES_KEPT);
  let length = 0;
  const fill = async () => {
    while (true) {
      // A body that breaks off after the head changes nothing about what the head said.
      const read = await reader.read().catch(() => null);
      if (read === null || read.done) break;
      const part = read.value.subarray(0, bytes.length - length);
      bytes.set(part, length);
      length += part.length;
      if (part.length < read.value.length) break;
    }
  };
  await withTimeout(fill(), RESPONSE_MS_MAX, () => undefined);
  reader.cancel().catch(() => undefined);
  // A text column holds every character but this one.
  return new TextDecoder().decode(bytes.subarray(0, length)).replaceAll("\0", "\uFFFD");
}

/** Nothing is put off for longer than a year, whatever a receiver says. */
const RETRY_AFTER_SECONDS_MAX = 366 * 86_400;

/** Seconds, or a date; null when there is neither. */
export function readRetryAfter(header: string | null, now: number = Date.now()): number | null {
  if (header === null) return null;
  if (/^\s*\d+\s*$/.test(header)) return Math.min(Number(header), RETRY_AFTER_SECONDS_MAX);
  // V8 reads dates out of almost anything.
  const date = /^\s*[A-Za-z]{3,9},/.test(header) ? Date.parse(header) : NaN;
  if (Number.isNaN(date)) return null;
  return Math.min(Math.max(0, Math.ceil((date - now) / 1000)), RETRY_AFTER_SECONDS_MAX);
}
