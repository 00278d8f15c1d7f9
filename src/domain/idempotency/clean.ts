import type { Queries } from "../../platform/database/database.ts";

const MOST = 1_000;

/** Forgets keys whose time is over; some at a time. Until then they are ignored by who looks them up. */
export async function pruneIdempotencyKeys(sql: Queries): Promise<number> {
  const { count } = await sql`
    delete from idempotency where ctid = any (array(
      select ctid from idempotency where expires_at <= now() limit ${MOST} for update skip locked))`;
  return count;
}
