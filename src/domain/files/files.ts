/** What uploads and outputs may be. */
export type MediaKind = "image" | "audio" | "video";

/** A file that is complete and may be read. */
export interface StoredFile {
  readonly id: string;
  readonly account: string;
  readonly origin: "upload" | "output";
  /** The task that made it; null for uploads. */
  readonly taskId: string | null;
  /** A name without path or control characters. */
  readonly filename: string;
  /** Judged by content, never by name or by what a client says. */
  readonly mimeType: string;
  readonly kind: MediaKind;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  /** Where its bytes lie. */
  readonly store: "local" | "s3";
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Bytes as they come. A piece is good until the next one is asked for. */
export type Bytes = AsyncIterable<Uint8Array>;

/** The first and last byte wanted, both inclusive and within the file. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

export interface NewUpload {
  readonly filename: string;
  readonly body: Bytes;
  /** No more will come than this; null where nobody said. */
  readonly announcedBytes: number | null;
}

export interface NewOutput {
  readonly taskId: string;
  /** Read once, never held whole. Its errors come out of `storeOutput` as they are. */
  readonly body: Bytes | Uint8Array;
  /** What the model makes; bytes of another kind are refused. */
  readonly kind: MediaKind;
  /** What the upstream says it is; only asked for `audio/pcm`, which cannot be told from its bytes. */
  readonly mimeType?: string | null;
  /** Without extension; `output` unless said. */
  readonly name?: string;
}

/** Uploads and outputs: rows in Postgres, bytes in a folder or a bucket. */
export interface Files {
  /**
   * Stores an upload as it streams in. Throws a `Refusal` for what is too large, has no room in the account's
   * space, or is no picture, sound or film.
   */
  upload(account: string, file: NewUpload, spaceBytes: number): Promise<StoredFile>;
  /** Stores a result. Throws `BadOutput` when the bytes are not what the model makes, or too many. */
  storeOutput(account: string, output: NewOutput): Promise<StoredFile>;
  /** Null when there is none, it is another account's, deleted or past its time. */
  find(account: string, id: string): Promise<StoredFile | null>;
  /** By id alone, for who holds a signed address. */
  findAny(id: string): Promise<StoredFile | null>;
  list(
    account: string,
    page: {
      limit: number;
      after?: string | undefined;
      order: "asc" | "desc";
      origin?: "upload" | "output" | undefined;
    },
  ): Promise<{ data: StoredFile[]; hasMore: boolean }>;
  open(file: StoredFile, range?: ByteRange): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** The whole of an input, for a provider that wants bytes. Throws a `Refusal` (`file_not_found`, 400). */
  openInput(
    account: string,
    id: string,
    bytesMax: number,
  ): Promise<{ file: StoredFile; bytes: Uint8Array<ArrayBuffer> }>;
  /** Whether there was one to delete. It is gone at once; its bytes follow. */
  remove(account: string, id: string): Promise<boolean>;
  /** An address that works for `storage.outputs.url_hours`, without a key. `now` as `Date.now()`. */
  signedUrl(fileId: string, now: number): { url: string; expiresAt: Date };
  /** An address at which a provider may say that a task's job has moved on. */
  callbackUrl(taskId: string, now: number): string;
  /** Whether such an address is ours and still works; of a callback, `callback:` and the task's id. */
  verifyUrl(
    fileId: string,
    query: { expires?: string; signature?: string },
    now: number,
  ): Promise<boolean>;
}

/** An upstream's result that cannot be kept; the message is for our log. */
export class BadOutput extends Error {
  override readonly name = "BadOutput";
}
