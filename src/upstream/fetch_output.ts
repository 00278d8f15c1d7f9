import { ApiError } from "../lib/api_error.ts";
import { Deadline } from "./deadline.ts";
import { UpstreamFailure } from "./failure.ts";
import type { UpstreamOutput } from "./media_adapter.ts";
import type { FetchedOutput } from "./media_calls.ts";
import { headersFor, mimeTypeOf, type UpstreamCall } from "./run_operation.ts";

/** Fetches from a URL that others chose, and from public addresses only; see `platform/outbound`. */
export type FetchSafely = (
  request: {
    url: string;
    headers?: Record<string, string>;
    timeoutMs: number;
    bytesMax: number;
    signal?: AbortSignal;
  },
  policy: { allowPrivate: boolean; charactersMax?: number },
) => Promise<{
  status: number;
  headers: Headers;
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  dispose(): void;
}>;

export interface FetchOutputOptions extends Omit<UpstreamCall, "faults"> {
  keyHeaders(): Record<string, string>;
  fetchSafely: FetchSafely;
  allowPrivate: boolean;
  /** A download without a byte for this long has failed. */
  silenceMs: number;
}

/** A large video over a slow connection; the model's own deadline is shorter in practice. */
const FETCH_MS_MAX = 10 * 60_000;
/** Signed URLs are long. */
const URL_CHARACTERS_MAX = 8192;
const OUTPUT_BYTES_MAX = 2 * 1024 * 1024 * 1024;

/**
 * Opens an output. The provider's base URL of the configuration is trusted; any other URL comes from a
 * response and is fetched with the same care as a URL from a client.
 */
export async function fetchOutput(
  output: UpstreamOutput,
  options: FetchOutputOptions,
): Promise<FetchedOutput> {
  if ("bytes" in output) {
    return { body: new Blob([output.bytes]).stream(), mimeType: output.mimeType };
  }
  // Not disposed here: the deadline holds until the last byte is read.
  const deadline = new Deadline({
    silenceMs: options.silenceMs,
    totalMs: FETCH_MS_MAX,
    signal: options.signal,
  });
  try {
    const fetched = await untilAborted(
      isOwn(output.url, options)
        ? fetchOwn(output, options, deadline.signal)
        : fetchForeign(output, options, deadline.signal),
      deadline.signal,
    );
    if (fetched.status !== 200 || fetched.body === null) {
      await fetched.body?.cancel();
      throw new UpstreamFailure("failed", `the output URL answered ${fetched.status}`, {
        status: fetched.status,
        received: isTemporary(fetched.status) ? "unknown" : "declined",
      });
    }
    deadline.pauseTimer();
    return {
      body: guardedBody(fetched.body, deadline),
      mimeType: output.mimeType ?? mimeTypeOf(fetched.headers),
    };
  } catch (cause) {
    deadline[Symbol.dispose]();
    throw outputFailure(cause, deadline);
  }
}

/** Waits for the other side, which may not react when the exchange is aborted. */
async function untilAborted<T>(next: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = () => reject(signal.reason);
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  try {
    return await Promise.race([next, ended]);
  } finally {
    signal.removeEventListener("abort", end);
    // After a time-out its own failure arrives later and says nothing new.
    next.catch(() => undefined);
  }
}

/** Storage that is busy or broken may return the file later; any other status is about the file. */
function isTemporary(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

function outputFailure(cause: unknown, deadline: Deadline): UpstreamFailure {
  // A URL that is not allowed stays so: no retry.
  return cause instanceof ApiError
    ? new UpstreamFailure("unreadable", "the URL of the output is not allowed", {
      cause,
      received: "declined",
    })
    : deadline.toFailure(cause);
}

/** The body of a download, which ends its deadline when it was read or is given up, also before the first read. */
function guardedBody(
  body: ReadableStream<Uint8Array>,
  deadline: Deadline,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const end = () => {
    deadline[Symbol.dispose]();
    // Not awaited: a silent peer may never confirm. Errors of a body that is no longer needed do not matter.
    reader.cancel().catch(() => undefined);
  };
  let length = 0;
  return new ReadableStream({
    async pull(controller) {
      try {
        deadline.resetTimer();
        const { done, value: piece } = await untilAborted(reader.read(), deadline.signal);
        deadline.pauseTimer();
        if (done) {
          end();
          return controller.close();
        }
        length += piece.length;
        if (length > OUTPUT_BYTES_MAX) {
          throw new UpstreamFailure("unreadable", "the output is too large", {
            received: "declined",
          });
        }
        controller.enqueue(piece);
      } catch (cause) {
        end();
        throw deadline.toFailure(cause);
      }
    },
    cancel: end,
  }, { highWaterMark: 0 });
}

type Fetched = Pick<Response, "status" | "headers" | "body">;
type Addressed = Exclude<UpstreamOutput, { bytes: unknown }>;

async function fetchOwn(
  { url, headers, withKey }: Addressed,
  options: FetchOutputOptions,
  signal: AbortSignal,
): Promise<Fetched> {
  const all = { ...headers, ...(withKey === true ? options.keyHeaders() : {}) };
  const { transport, target } = options;
  const init = { headers: headersFor(target, all), redirect: "manual", signal } as const;
  return await (transport === undefined ? fetch(url, init) : transport(new Request(url, init)));
}

async function fetchForeign(
  { url, headers }: Addressed,
  { fetchSafely, allowPrivate }: FetchOutputOptions,
  signal: AbortSignal,
): Promise<Fetched> {
  return await fetchSafely(
    { url, headers: { ...headers }, timeoutMs: FETCH_MS_MAX, bytesMax: OUTPUT_BYTES_MAX, signal },
    { allowPrivate, charactersMax: URL_CHARACTERS_MAX },
  );
}

function isOwn(url: string, { target, transport }: FetchOutputOptions): boolean {
  return transport !== undefined || new URL(url).origin === new URL(target.baseUrl).origin;
}
