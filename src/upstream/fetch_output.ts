import { ApiError } from "../lib/api_error.ts";
import { Deadline } from "./deadline.ts";
import { type MediaExchange, mimeTypeOf, sendMedia, toFailure } from "./exchange_media.ts";
import { UpstreamFailure } from "./failure.ts";
import type { UpstreamOutput } from "./media_adapter.ts";
import type { FetchedOutput } from "./media_calls.ts";
import { SilenceLimit } from "./silence_limit.ts";

/** What `outbound/` offers: fetches from an address that others name, and from public ones only. */
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

export interface FetchOutputOptions extends MediaExchange {
  keyHeaders(): Record<string, string>;
  fetchSafely: FetchSafely;
  allowPrivate: boolean;
  /** After so long without a byte the download has failed. */
  silenceMs: number;
}

/** A large video over a slow line; the model's own deadline is shorter in practice. */
const FETCH_MS_MAX = 10 * 60_000;
/** Signed addresses are long. */
const URL_CHARACTERS_MAX = 8192;
const OUTPUT_BYTES_MAX = 2 * 1024 * 1024 * 1024;

/**
 * Opens a result. The operator's own address for the provider is trusted; any other was named by an
 * answer, and is fetched like an address named by a client.
 */
export async function fetchOutput(
  output: UpstreamOutput,
  options: FetchOutputOptions,
): Promise<FetchedOutput> {
  if ("bytes" in output) {
    return { body: new Blob([output.bytes]).stream(), mimeType: output.mimeType };
  }
  // Handed on to whoever reads: the deadline holds until the last byte.
  const deadline = new Deadline(FETCH_MS_MAX, options.signal);
  const silence = new SilenceLimit(options.silenceMs, deadline.signal);
  try {
    const fetched = await silence.wait(
      isOwn(output.url, options)
        ? fetchOwn(output, options, silence.signal)
        : fetchForeign(output, options, silence.signal),
    );
    if (fetched.status !== 200 || fetched.body === null) {
      await fetched.body?.cancel();
      throw new UpstreamFailure("failed", `the output answered ${fetched.status}`, {
        status: fetched.status,
        received: isPassing(fetched.status) ? "unknown" : "declined",
      });
    }
    return {
      body: ReadableStream.from(piecesOf(fetched.body, deadline, silence)),
      mimeType: output.mimeType ?? mimeTypeOf(fetched),
    };
  } catch (cause) {
    deadline[Symbol.dispose]();
    throw failureOf(cause, deadline);
  }
}

/** Storage that is busy or broken may give the file later; any other status is about the file. */
function isPassing(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

function failureOf(cause: unknown, deadline: Deadline): UpstreamFailure {
  // An address that we do not fetch from stays one.
  return cause instanceof ApiError
    ? new UpstreamFailure("unreadable", "the output's address is refused", {
      cause,
      received: "declined",
    })
    : toFailure(cause, deadline);
}

async function* piecesOf(
  body: ReadableStream<Uint8Array>,
  deadline: Deadline,
  silence: SilenceLimit,
): AsyncGenerator<Uint8Array> {
  using _ = deadline;
  const reader = body.getReader();
  let length = 0;
  try {
    while (true) {
      const { done, value: piece } = await silence.wait(reader.read());
      if (done) return;
      length += piece.length;
      if (length > OUTPUT_BYTES_MAX) {
        throw new UpstreamFailure("unreadable", "the output is too large", {
          received: "declined",
        });
      }
      yield piece;
    }
  } catch (cause) {
    throw toFailure(cause, deadline);
  } finally {
    // Read to its end or not: nothing more is wanted. A side that is silent may never say that it heard.
    reader.cancel().catch(() => undefined);
  }
}

type Fetched = Pick<Response, "status" | "headers" | "body">;
type Addressed = Exclude<UpstreamOutput, { bytes: unknown }>;

async function fetchOwn(
  { url, headers, withKey }: Addressed,
  options: FetchOutputOptions,
  signal: AbortSignal,
): Promise<Fetched> {
  const all = { ...headers, ...(withKey === true ? options.keyHeaders() : {}) };
  return await sendMedia(options, { url, method: "GET", headers: all, body: null }, signal);
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
