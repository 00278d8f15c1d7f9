import type { ClaimedDelivery } from "./claim.ts";
import { renderPayload } from "./event.ts";
import { signedHeaders } from "./sign.ts";
import { retryAfter } from "../../lib/retry_after.ts";
import { withTimeout } from "../../lib/timers.ts";

/** Sends one request to a URL that a client chose; `platform/outbound` implements it. */
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

/** Result of one attempt. */
export interface AttemptResult {
  /** Null when there was no response; then `error` says why. */
  readonly status: number | null;
  readonly error: string | null;
  /** The start of the response body, as text. */
  readonly response: string | null;
  readonly latencyMs: number;
  /** From the `Retry-After` header. */
  readonly retryAfterSeconds: number | null;
}

const CONNECT_TIMEOUT_MS = 5_000;
const RESPONSE_BYTES_KEPT = 4_096;
/** The status decides; the body is only for the log, and is read for this long at most. */
const RESPONSE_MS_MAX = 1_000;

/** Sends an event once. Never throws: errors are part of the result. */
export async function attemptDelivery(
  post: WebhookPost,
  delivery: Pick<ClaimedDelivery, "url" | "event">,
  options: {
    secrets: readonly string[];
    /** For the receiver: the trace that the attempt belongs to. */
    traceparent?: string | undefined;
    timeoutMs: number;
    signal: AbortSignal;
  },
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
        ...(options.traceparent === undefined ? {} : { traceparent: options.traceparent }),
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
        retryAfterSeconds: retryAfter(answer.headers.get("retry-after"), Infinity) ?? null,
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

/** The first bytes of a body, as far as they arrive in time. */
async function readStart(body: ReadableStream<Uint8Array>): Promise<string> {
  const reader = body.getReader();
  const bytes = new Uint8Array(RESPONSE_BYTES_KEPT);
  let length = 0;
  const fill = async () => {
    while (true) {
      // A body that ends early does not change the status.
      const read = await reader.read().catch(() => null);
      if (read === null || read.done) break;
      const part = read.value.subarray(0, bytes.length - length);
      bytes.set(part, length);
      length += part.length;
      if (part.length < read.value.length) break;
    }
  };
  await withTimeout(fill(), RESPONSE_MS_MAX, () => undefined);
  // Rejects if the connection failed, which no longer matters.
  reader.cancel().catch(() => undefined);
  // Postgres cannot store this character in a text column.
  return new TextDecoder().decode(bytes.subarray(0, length)).replaceAll("\0", "\uFFFD");
}
