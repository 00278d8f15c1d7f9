import type postgres from "postgres";
import { WEBHOOK_TABLES } from "../../platform/database/partitioned_tables.ts";
import { dropPartitions, listPartitions } from "../../platform/database/partitions.ts";

const [, DELIVERIES] = WEBHOOK_TABLES;

/**
 * Drops months of events and deliveries that are all older than `keepSince`, and deletes expired secrets and endpoints
 * that were deleted before the oldest month that is left. A month stays while a delivery of it is pending, or has ended
 * since. Returns the partitions that were dropped. Any number of nodes may call it at once.
 */
export async function pruneWebhooks(sql: postgres.Sql, keepSince: Date): Promise<string[]> {
  await sql`delete from webhook_secret where expires_at < now() - interval '1 day'`;
  const dropped = await dropPartitions(sql, WEBHOOK_TABLES, {
    keepSince,
    async mayDrop(tx, names) {
      const deliveries = names.find((name) => name.startsWith(`${DELIVERIES.table}_`));
      if (deliveries === undefined) return true;
      const needed = await tx`
        select from ${
        tx(deliveries)
      } where wake_at is not null or ended_at >= ${keepSince} limit 1`;
      return needed.length === 0;
    },
  });
  const [oldest] = await listPartitions(sql, DELIVERIES);
  if (oldest !== undefined) {
    // Those that are left in the default partition may be older.
    await sql`
      delete from webhook_endpoint
       where deleted_at < ${oldest.from}
         and not exists (select from webhook_delivery_default where endpoint_id = webhook_endpoint.id)`;
  }
  return dropped;
}
