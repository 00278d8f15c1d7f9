import { newId } from "../../lib/ids.ts";
import type { Queries } from "../../platform/database/database.ts";

/** How long deliveries can be looked up and sent again. */
export const KEEP_DAYS = 30;
/** Per statement: few enough that other statements do not wait long. */
const MOST = 1000;

/**
 * Removes old deliveries and expired secrets. Ids begin with the time they were made, so
 * the old ones are found without an index of their own. Any number of nodes may call it at once.
 */
export async function pruneWebhooks(sql: Queries, now: number = Date.now()): Promise<number> {
  const time = newId("evt", now - KEEP_DAYS * 86_400_000).slice(4, 14);
  await sql`delete from webhook_secret where expires_at < now() - interval '1 day'`;
  let total = 0;
  while (true) {
    const [row] = await sql<[{ count: number }]>`
      with old as (
        delete from webhook_delivery where id in (
          select id from webhook_delivery
           where id < ${`dlv_${time}`} and wake_at is null
             and ended_at < now() - make_interval(days => ${KEEP_DAYS})
           order by id limit ${MOST} for update skip locked)
        returning id)
      select count(*)::int as count from old`;
    total += row.count;
    if (row.count < MOST) break;
  }
  // Those whose deliveries are all gone.
  await sql`
    delete from webhook_event e
     where id < ${`evt_${time}`}
       and not exists (select from webhook_delivery d where d.event_id = e.id)`;
  return total;
}
