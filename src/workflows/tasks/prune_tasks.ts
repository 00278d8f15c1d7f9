import { idPrefixAt } from "../../lib/ids.ts";
import type { Queries } from "../../platform/database/database.ts";

/** Per statement: few enough that other statements do not wait long. */
const BATCH_SIZE = 500;

/**
 * Deletes tasks that ended before `keepSince`, with their subtasks. Ids begin with the time they were made, so the old
 * ones are found without an index of their own. Returns how many. Any number of nodes may call it at once.
 */
export async function pruneTasks(sql: Queries, keepSince: Date): Promise<number> {
  let total = 0;
  while (true) {
    const [row] = await sql<[{ ended: number; deleted: number }]>`
      with ended as (
        select id from task
         where id < ${idPrefixAt("task", keepSince.getTime())} and completed_at < ${keepSince}
           and parent_id is null
         order by id limit ${BATCH_SIZE} for update skip locked),
      deleted as (
        delete from task where id in (
          select id from ended union all select c.id from task c join ended on c.parent_id = ended.id)
        returning id)
      select (select count(*)::int from ended) as ended, (select count(*)::int from deleted) as deleted`;
    total += row.deleted;
    if (row.ended < BATCH_SIZE) return total;
  }
}
