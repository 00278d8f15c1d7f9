import { isStalePlan } from "./storage_error.ts";

/** Postgres ended one of two transactions that met: a serialization failure, a deadlock. */
const CONFLICTS = new Set(["40001", "40P01"]);
const TRIES_MAX = 4;

/** Runs a transaction again that Postgres ended because of another one, or of a migration: nothing of it was written. */
export async function retryConflicts<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1;; tries++) {
    try {
      return await transaction();
    } catch (error) {
      const { code } = error as { code?: string };
      const isConflict = CONFLICTS.has(String(code)) || isStalePlan(error);
      if (tries === TRIES_MAX || !isConflict) throw error;
    }
  }
}
