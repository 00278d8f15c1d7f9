import type { OpenOptions } from "./database.ts";
import { isStorageDown, isStorageUnavailable, StorageError } from "./storage_error.ts";
import { sleep } from "../../lib/timers.ts";

const RETRY_MS = 250;
const REPORT_MS = 2_000;

export interface DatabaseWait {
  /** Location of the database for messages. */
  describe: string;
  log: OpenOptions["log"];
  waitSeconds: number;
}

/**
 * Runs a step of the start, and repeats it while the database is away or cannot serve it, up to a limit.
 * The step must be harmless to repeat. Other errors pass as they are.
 */
export async function waitForDatabase<T>(
  waiting: DatabaseWait,
  step: () => Promise<T>,
): Promise<T> {
  const { describe, log, waitSeconds } = waiting;
  const started = performance.now();
  let reportAt = started;
  while (true) {
    try {
      return await step();
    } catch (error) {
      if (!isStorageUnavailable(error)) throw error;
      const reason = reasonOf(error as Error);
      const now = performance.now();
      const waitedSeconds = Math.round((now - started) / 1000);
      if (now - started >= waitSeconds * 1000) {
        const what = isStorageDown(error) ? "reach" : "use";
        throw new StorageError(
          `Cannot ${what} the database ${describe} after ${waitedSeconds} s: ${reason}. ` +
            "Check that DATABASE_URL is right and that the server is running.",
          { cause: error },
        );
      }
      if (now >= reportAt) {
        log.info("waiting for the database", {
          database: describe,
          reason,
          waited_seconds: waitedSeconds,
        });
        reportAt = now + REPORT_MS;
      }
      await sleep(RETRY_MS);
    }
  }
}

/** A message that an operator can act on; other errors keep their own message. */
export function reasonOf(error: Error): string {
  const { code } = error as { code?: string };
  switch (code) {
    case "28P01":
      return "it does not accept the user and password of DATABASE_URL";
    case "28000":
      return `it does not let this user in from here (${error.message}); see its pg_hba.conf`;
    case "3D000":
      return `${error.message}; create it, or correct the name in DATABASE_URL`;
    case "ECONNREFUSED":
      return "nothing listens there";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "no such host is known";
    default:
      return error.message.replace(/\.$/, "");
  }
}
