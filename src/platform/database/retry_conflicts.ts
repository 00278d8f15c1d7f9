/** Postgres ended one of two transactions that met: a serialization failure, a deadlock. */
const CONFLICTS = new Set(["40001", "40P01"]);
const TRIES_MAX = 4;

/** Runs a transaction again that Postgres ended because of another one: nothing of it was written. */
export async function retryConflicts<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1;; tries++) {
    try {
      return await transaction();
    } catch (error) {
      const { code } = error as { code?: string };
      if (tries === TRIES_MAX || !CONFLICTS.has(String(code))) throw error;
    }
  }
}
