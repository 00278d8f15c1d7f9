import type { Queries } from "../../platform/database/database.ts";

const BATCH_SIZE = 1_000;

/** Deletes expired keys, a limited number at a time. Until then lookups ignore them. */
export async function pruneIdempotencyKeys(sql: Queries): Promise<void> {
  await sql`
    delete from idempotency where ctid = any (array(
      select ctid from idempotency where expires_at <= now() limit ${BATCH_SIZE} for update skip locked))`;
}
