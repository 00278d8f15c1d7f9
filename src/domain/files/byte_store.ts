import { ApiError } from "../../lib/api_error.ts";
import type { ByteRange, Bytes } from "./files.ts";

/** Where bytes lie, under keys that are ours. Everything but `put` of a key is done once its row says so. */
export interface ByteStore {
  /** Stores the bytes durably. On failure nothing is left, and an error of `chunks` is thrown unchanged. */
  put(key: string, chunks: Bytes): Promise<void>;
  get(key: string, range?: ByteRange): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** Also deletes what an interrupted `put` left. No error where there is nothing to delete. */
  delete(key: string): Promise<void>;
}

/** The disk is full or the bucket is unavailable: the client cannot change it. */
export function storeFailed(cause: unknown): ApiError {
  return new ApiError("storage_unavailable", "The file storage does not answer: try again.", {
    cause,
    retryAfterSeconds: 5,
  });
}
