import type { ZodType } from "zod";

/** JSON from the database does not have the shape that this version of the code reads. */
export class StoredJsonError extends Error {
  override readonly name = "StoredJsonError";
}

/**
 * Reads JSON that an earlier version of the code may have written. Throws a `StoredJsonError` that names the
 * fields in question, never their values: stored requests are the clients' own.
 */
export function parseStored<T>(schema: ZodType<T>, what: string, stored: unknown): T {
  const { success, data, error } = schema.safeParse(stored);
  if (success) return data;
  const fields = error.issues.slice(0, 3).map(({ path, code }) =>
    `${path.join(".") || "root"}: ${code}`
  );
  throw new StoredJsonError(`Cannot read stored ${what}: ${fields.join(", ")}`);
}
