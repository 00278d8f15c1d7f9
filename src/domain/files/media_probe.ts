import { ApiError } from "../../lib/api_error.ts";
import { ProcessPool, ProcessPoolError } from "../../lib/process_pool.ts";
import type { ByteStore } from "./byte_store.ts";
import type { ByteRange } from "./files.ts";
import { type MediaBytes, type MediaFacts, UNKNOWN_MEDIA } from "./media_facts.ts";
import { type MediaType, mediaType } from "./media_types.ts";
import { sniffPng } from "./sniff_png.ts";

/** A request of the worker: some bytes of the file, or the next ones. */
export type ProbeRequest = ByteRange | "next";

/** Job for the worker that reads the first bytes of a file: its type, the size of an image, or both. */
export interface SniffJob {
  wants: "type" | "size" | "both";
  head: Uint8Array;
}

/** What the first bytes of a file say. */
export interface SniffedMedia {
  /** The sniffer's name of the type; empty: unknown. */
  name: string;
  /** Of an image. */
  facts: MediaFacts;
}

/** A type, and the size of an image if the first bytes tell. */
export interface Sniffed {
  type: MediaType | null;
  facts: MediaFacts;
}

/** Images with their size before everything else that counts: more bytes do not change it. */
const SIZE_FIRST = new Set([
  "image/apng",
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/bmp",
]);

const AT_ONCE_BYTES = 256 * 1024;
/** Loading the parsers takes most of a second. */
const IDLE_MS = 300_000;

/**
 * Detects type, size and duration of untrusted media. The parsers run in processes that can be killed, since any of
 * them may loop for ever over bytes that were made for it.
 */
export class MediaProbe implements AsyncDisposable {
  /** Reads first bytes. A pool of its own, so that long files in the other do not delay it. */
  readonly #sniffers: ProcessPool;
  readonly #probers: ProcessPool;

  constructor(
    private readonly onGivenUp: (account: string, error: ProcessPoolError) => void,
    { deadlineMs = 5_000, silenceMs = 2_000 } = {},
  ) {
    // One worker each: with more, endless files would leave a small machine no core to serve with.
    const common = { size: 1, waitMs: 5_000, idleMs: IDLE_MS };
    this.#sniffers = new ProcessPool({
      ...common,
      module: new URL("./sniff_worker.ts", import.meta.url),
      deadlineMs: silenceMs,
      waitingMax: 256,
      heapMb: 64,
    });
    this.#probers = new ProcessPool({
      ...common,
      module: new URL("./probe_worker.ts", import.meta.url),
      deadlineMs,
      silenceMs,
      waitingMax: 64,
      heapMb: 128,
    });
  }

  /** Detects the type from the bytes; null for anything but a known image, audio or video. */
  async sniff(account: string, head: Uint8Array): Promise<Sniffed> {
    const run = (wants: SniffJob["wants"]) =>
      this.#sniffers.run<SniffJob, SniffedMedia>({ owner: account, input: { wants, head } });
    const { name, facts } = sniffPng(head) ?? await run("both").catch((error) => {
      // One of the two parsers does not end: the type alone may be known.
      if (!isLate(error)) throw error;
      return run("type");
    }).catch((error) => sniffedOtherwise(error, head));
    return { type: mediaType(name), facts };
  }

  /** Size and duration; unknown for a file that takes too long, and while too many others wait. */
  async probe(
    account: string,
    store: ByteStore,
    key: string,
    subject: MediaBytes & { sniffed: MediaFacts },
  ): Promise<MediaFacts> {
    const { sniffed, ...bytes } = subject;
    if (SIZE_FIRST.has(bytes.mimeType) && sniffed.width !== null) return sniffed;
    return await this.#measure(account, store, key, bytes);
  }

  async #measure(
    account: string,
    store: ByteStore,
    key: string,
    subject: MediaBytes,
  ): Promise<MediaFacts> {
    await using stored = new StoredBytes(store, key, subject.bytes);
    const measuring = subject.kind === "image"
      ? this.#sniffers.run<SniffJob, MediaFacts>({
        owner: account,
        input: { wants: "size", head: subject.head },
      })
      : this.#probers.run<MediaBytes, MediaFacts>({
        owner: account,
        input: subject,
        answer: (question: ProbeRequest) => stored.answer(question),
      });
    return await measuring.catch((error) => {
      if (!(error instanceof ProcessPoolError)) throw error;
      this.onGivenUp(account, error);
      return UNKNOWN_MEDIA;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sniffers[Symbol.asyncDispose]();
    await this.#probers[Symbol.asyncDispose]();
  }
}

function isLate(error: unknown): boolean {
  return error instanceof ProcessPoolError && error.reason === "late";
}

async function sniffedOtherwise(error: unknown, head: Uint8Array): Promise<SniffedMedia> {
  const reason = error instanceof ProcessPoolError ? error.reason : null;
  // Bytes that keep a parser busy for so long have no known type.
  if (isLate(error)) return { name: "", facts: UNKNOWN_MEDIA };
  // A platform without child processes: the type is detected here, and nothing is probed.
  if (reason === "unavailable") {
    const { sniffName } = await import("./sniff_name.ts");
    return { name: await sniffName(head), facts: UNKNOWN_MEDIA };
  }
  throw new ApiError("storage_unavailable", "Too many files arrive just now: try again.", {
    cause: error,
    retryAfterSeconds: 5,
  });
}

/** A stored file as a worker reads it. */
class StoredBytes implements AsyncDisposable {
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;

  constructor(
    private readonly store: ByteStore,
    private readonly key: string,
    private readonly bytes: number,
  ) {}

  async answer(question: ProbeRequest): Promise<Uint8Array | null> {
    if (question === "next") return await this.#next();
    const { first, last } = question;
    if (!(first >= 0 && first <= last && last < this.bytes)) throw new RangeError("no such bytes");
    return await new Response(await this.store.get(this.key, question)).bytes();
  }

  /** Pieces of a fair size, each in a buffer of its own; null at the end. */
  async #next(): Promise<Uint8Array | null> {
    this.#reader ??= (await this.store.get(this.key)).getReader();
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    for (let length = 0; length < AT_ONCE_BYTES;) {
      const { done, value } = await this.#reader.read();
      if (done) break;
      pieces.push(value.slice());
      length += value.length;
    }
    return pieces.length === 0 ? null : await new Blob(pieces).bytes();
  }

  async [Symbol.asyncDispose]() {
    // Rejects if the source failed, which the read has reported.
    await this.#reader?.cancel().catch(() => {});
  }
}
