import { RemoteError } from "../../lib/remote_error.ts";

/** The storage cannot be used as it is. The message is one sentence for the operator: what, and what to do. */
export class StorageError extends Error {
  override readonly name = "StorageError";
}

/** A connection that could not be made or was lost, with the codes that drivers and systems use. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";

  constructor(readonly code: string, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

const CONNECTION_CODES = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ERR_STREAM_DESTROYED",
  "ETIMEDOUT",
  "53300", // too many connections
  "57P01", // shut down by an administrator
  "57P02", // ended by a crash
  "57P03", // starting up, not yet or no longer taking connections
  "57P05", // idle session ended
]);

/** Errors of a running Postgres that may pass or that another server would not have. */
const UNAVAILABLE_CODES = new Set([
  "25006", // read-only: a standby, or a server after failover
  "40001", // could not be serialized
  "40P01", // deadlock
  "55P03", // lock not available in time
  "57014", // cancelled, as by a time limit
]);
/** Classes of codes: out of disk, memory or connections; errors of the operating system. */
const UNAVAILABLE_CLASSES = /^(53|58)...$/;

/**
 * Whether a migration of another node changed the columns of what a prepared statement returns. The driver prepares it
 * again and repeats it by itself, but not in a transaction, which Postgres has ended: nothing of it was written.
 */
export function isStalePlan(error: unknown): boolean {
  const { code, routine } = error as { code?: unknown; routine?: unknown };
  return code === "0A000" && routine === "RevalidateCachedQuery";
}

/** Whether an error, or its cause, means that the database is away, rather than that the query is wrong. */
export function isStorageDown(error: unknown): boolean {
  return isCausedBy(error, (code) => CONNECTION_CODES.has(code) || /^08...$/.test(code));
}

/** The same, or that it is running and cannot serve: full, read-only, locked, overloaded. */
export function isStorageUnavailable(error: unknown): boolean {
  return isStorageDown(error) ||
    isCausedBy(
      error,
      (code, error) =>
        UNAVAILABLE_CODES.has(code) || UNAVAILABLE_CLASSES.test(code) || isStalePlan(error),
    );
}

/** The `onError` of background work that its next run makes up for. Other errors are thrown again. */
export function ignoreStorageUnavailable(error: unknown): void {
  if (!isStorageUnavailable(error)) throw error;
}

/** For numbers that are left out while the database is down. Other errors go through. */
export function nullIfUnavailable(error: unknown): null {
  ignoreStorageUnavailable(error);
  return null;
}

function isCausedBy(
  error: unknown,
  matches: (code: string, error: Error) => boolean,
): boolean {
  // A chain of causes may be circular: ten levels are enough.
  for (let depth = 0; depth < 10 && error instanceof Error; depth++) {
    if (error instanceof ConnectionError) return true;
    if (error instanceof RemoteError) return false;
    const { code } = error as { code?: unknown };
    if (typeof code === "string" && matches(code, error)) return true;
    if (
      error instanceof AggregateError && error.errors.some((part) => isCausedBy(part, matches))
    ) return true;
    error = error.cause;
  }
  return false;
}

/** Whether another transaction held a lock for too long. */
export function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === "55P03";
}

const RETRYABLE_CODES = new Set([
  "25006", // read-only, such as during a failover
  "40001", // serialization failure
  "40P01", // deadlock
  "53100", // disk full
  "53200", // out of memory
  "55P03", // lock not available
  "57014", // cancelled, such as by a time-out
  "58030", // I/O error
]);

/** Whether the same statement may succeed later: the database is away, or there was a conflict with other transactions. */
export function isRetryable(error: unknown): boolean {
  if (isStorageDown(error) || isStalePlan(error)) return true;
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === "string" && RETRYABLE_CODES.has(code);
}
