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
  const late = AbortSignal.timeout(FETCH_MS_MAX);
  const fetching = isOwn(output.url, options)
    ? fetchOwn(output, options, AbortSignal.any([options.signal, late]))
    : fetchForeign(output, options);
  const fetched = await fetching.catch((cause: unknown) => {
    throw explained(cause, late, FETCH_MS_MAX);
  });
  if (fetched.status !== 200 || fetched.body === null) {
    await fetched.body?.cancel();
    throw new UpstreamFailure("failed", `the output answered ${fetched.status}`, {
      status: fetched.status,
      sent: "refused",
    });
  }
  return {
    body: fetched.body.pipeThrough(capped(OUTPUT_BYTES_MAX)),
    mimeType: output.mimeType ?? mimeTypeOf(fetched),
  };
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
  options: FetchOutputOptions,
): Promise<Fetched> {
  const { signal, allowPrivate } = options;
  return await options.fetchSafely(
    { url, headers: { ...headers }, timeoutMs: FETCH_MS_MAX, bytesMax: OUTPUT_BYTES_MAX, signal },
    { allowPrivate, charactersMax: URL_CHARACTERS_MAX },
  );
}

function isOwn(url: string, { target, transport }: FetchOutputOptions): boolean {
  return transport !== undefined || new URL(url).origin === new URL(target.baseUrl).origin;
}

function capped(bytesMax: number): TransformStream<Uint8Array, Uint8Array> {
  let length = 0;
  return new TransformStream({
    transform(piece, controller) {
      length += piece.length;
      if (length > bytesMax) controller.error(new Error("the output is too large"));
      else controller.enqueue(piece);
    },
  });
}
