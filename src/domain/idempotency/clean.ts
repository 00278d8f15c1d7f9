import type { Queries } from "../../platform/database/database.ts";

const BATCH_SIZE = 1_000;

/** Deletes expired keys and the answers that they have, a limited number at a time. Until then lookups ignore them. */
export async function pruneIdempotencyKeys(sql: Queries): Promise<void> {
  for (const table of [sql`idempotency`, sql`idempotent_answer`]) {
    await sql`
      delete from ${table} where ctid = any (array(
        select ctid from ${table} where expires_at <= now() limit ${BATCH_SIZE} for update skip locked))`;
  }
}
