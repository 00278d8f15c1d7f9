import type { FileKind, MediaKind } from "../../model_types/definition.ts";

export type { FileKind, MediaKind };

/** A file that is complete and may be read. */
export interface StoredFile {
  readonly id: string;
  readonly account: string;
  readonly origin: "upload" | "output";
  /** The task that made it; null for uploads. */
  readonly taskId: string | null;
  /** A name without path or control characters. */
  readonly filename: string;
  /** Detected from the content, never from the name or from what a client states. */
  readonly mimeType: string;
  readonly kind: FileKind;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  /** Where its bytes are stored. */
  readonly store: "local" | "s3";
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** A stream of bytes. A chunk is valid until the next one is requested. */
export type Bytes = AsyncIterable<Uint8Array>;

/** The first and last byte wanted, both inclusive and within the file. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

export interface NewUpload {
  readonly filename: string;
  readonly body: Bytes;
  /** Upper limit that the client announced; null where it announced none. */
  readonly announcedBytes: number | null;
}

export interface NewOutput {
  readonly taskId: string;
  /** Read once, never held whole. Its errors come out of `storeOutput` as they are. */
  readonly body: Bytes | Uint8Array;
  /** What the model makes; bytes of another kind are rejected. */
  readonly kind: MediaKind;
  /** Stated by the upstream; used for `audio/pcm` only, which cannot be detected from its bytes. */
  readonly mimeType?: string | null;
  /** Without extension; default `output`. */
  readonly name?: string;
}

export interface NewJson {
  readonly taskId: string;
  readonly value: unknown;
  /** Without extension. */
  readonly name: string;
}

/** Uploads and outputs: rows in Postgres, bytes in a folder or a bucket. */
export interface Files {
  /**
   * Stores an upload while it streams in. Throws an `ApiError` for a file that is too large, exceeds the account's
   * storage, or is no image, audio or video.
   */
  upload(account: string, file: NewUpload, spaceBytes: number): Promise<StoredFile>;
  /** Stores a result. Throws `BadOutput` when the bytes are not what the model makes, or too many. */
  storeOutput(account: string, output: NewOutput): Promise<StoredFile>;
  /** Stores a result that is JSON. */
  storeJson(account: string, output: NewJson): Promise<StoredFile>;
  /** Null for a file that does not exist, belongs to another account, is deleted or has expired. */
  find(account: string, id: string): Promise<StoredFile | null>;
  /** By id alone, for requests with a signed URL. */
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
  /** The whole of an input, for a provider that wants bytes. Throws an `ApiError` (`file_not_found`, 400). */
  openInput(
    account: string,
    id: string,
    bytesMax: number,
  ): Promise<{ file: StoredFile; bytes: Uint8Array<ArrayBuffer> }>;
  /** Returns whether there was a file to delete. It is invisible at once; its bytes are deleted later. */
  remove(account: string, id: string): Promise<boolean>;
  /** A URL that works for `storage.outputs.url_hours` without an API key. `now` as `Date.now()`. */
  signedUrl(fileId: string, now: number): { url: string; expiresAt: Date };
  /** A URL for a provider's callbacks about a task's job. */
  callbackUrl(taskId: string, now: number): string;
  /** Whether a signed URL is valid; for a callback, `fileId` is `callback:` and the task's id. */
  verifyUrl(
    fileId: string,
    query: { expires?: string; signature?: string },
    now: number,
  ): Promise<boolean>;
}

/** An upstream's result that cannot be stored; the message is for the log. */
export class BadOutput extends Error {
  override readonly name = "BadOutput";
}
