import type { Database } from "../../src/platform/database/postgres.ts";
import { type FreshDatabase, freshDatabase } from "./fresh_database.ts";

const IS_SHARED = Deno.env.get("TEST_STORE") === "embedded";

/**
 * For tests that share a database: its thread is open before and after each of them. On a server, where the same tests
 * run, they are checked for leaks.
 */
export const CHECKED_UNLESS_SHARED = { sanitizeOps: !IS_SHARED, sanitizeResources: !IS_SHARED };

/** An open database, and where it is. */
export interface OpenedDatabase extends Database {
  readonly fresh: FreshDatabase;
}

/**
 * Opens databases for the tests of one file. On the embedded store they share one, which takes seconds to open: each test
 * must begin by clearing what it needs. On a server each has its own: a pool that grows in a test would count as a leak.
 */
export function shareDatabase(): () => Promise<OpenedDatabase> {
  let shared: OpenedDatabase | undefined;
  if (IS_SHARED) {
    Deno.test.beforeAll(async () => {
      shared = await openOne();
      await shared.ping();
    });
    Deno.test.afterAll(async () => await shared![Symbol.asyncDispose]());
  }
  return async () =>
    shared === undefined
      ? await openOne()
      : { ...shared, [Symbol.asyncDispose]: () => Promise.resolve() };
}

async function openOne(): Promise<OpenedDatabase> {
  const fresh = await freshDatabase();
  const database = await fresh.open();
  return {
    ...database,
    fresh,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await fresh[Symbol.asyncDispose]();
    },
  };
}
