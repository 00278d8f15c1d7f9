import { Deadline } from "./deadline.ts";
import { type Exchange, explained, mimeTypeOf, send } from "./exchange_media.ts";
import { UpstreamFailure } from "./failure.ts";
import type { UpstreamOutput } from "./media_adapter.ts";
import type { FetchedOutput } from "./media_calls.ts";

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

export interface FetchOutputOptions extends Exchange {
  keyHeaders(): Record<string, string>;
  fetchSafely: FetchSafely;
  allowPrivate: boolean;
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
  try {
    const fetched = await (isOwn(output.url, options)
      ? fetchOwn(output, options, deadline.signal)
      : fetchForeign(output, options, deadline.signal));
    if (fetched.status !== 200 || fetched.body === null) {
      await fetched.body?.cancel();
      throw new UpstreamFailure("failed", `the output answered ${fetched.status}`, {
        status: fetched.status,
        sent: "refused",
      });
    }
    return {
      body: ReadableStream.from(piecesOf(fetched.body, deadline)),
      mimeType: output.mimeType ?? mimeTypeOf(fetched),
    };
  } catch (cause) {
    deadline[Symbol.dispose]();
    throw explained(cause, deadline);
  }
}

async function* piecesOf(
  body: ReadableStream<Uint8Array>,
  deadline: Deadline,
): AsyncGenerator<Uint8Array> {
  using _ = deadline;
  let length = 0;
  try {
    for await (const piece of body) {
      length += piece.length;
      if (length > OUTPUT_BYTES_MAX) {
        throw new UpstreamFailure("unreadable", "the output is too large", { sent: "refused" });
      }
      yield piece;
    }
  } catch (cause) {
    throw explained(cause, deadline);
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
  return await send(options, { url, method: "GET", headers: all, body: null }, signal);
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
