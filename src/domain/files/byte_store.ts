import { ApiError } from "../../lib/api_error.ts";
import type { ByteRange, Bytes } from "./files.ts";

/** Where bytes lie, under keys that are ours. Everything but `put` of a key is done once its row says so. */
export interface ByteStore {
  /** Stores what comes, durably. When it fails nothing is left, and what `chunks` threw is thrown on. */
  put(key: string, chunks: Bytes): Promise<void>;
  get(key: string, range?: ByteRange): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** Also what a broken-off `put` left. No complaint when there is nothing. */
  delete(key: string): Promise<void>;
}

/** The disk is full, the bucket away: nothing the client could change. */
export function storeFailed(cause: unknown): ApiError {
  return new ApiError("storage_unavailable", "The file storage does not answer: try again.", {
    cause,
    retryAfterSeconds: 5,
  });
}
