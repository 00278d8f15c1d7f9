import type { Queries } from "../../platform/database/database.ts";
import { deleteRow } from "./rows.ts";
import type { StoreName, Stores } from "./stores.ts";

const MOST = 100;
/** After this time another cleaner may claim a file again. */
const CLAIM_MINUTES = 10;

/**
 * Deletes expired and unfinished files, their bytes first, by the clock of the database. Any number of nodes may
 * do it at the same time. Bytes that cannot be deleted are retried later.
 */
export async function cleanFiles(
  { sql, stores }: { sql: Queries; stores: Stores },
  onFailure: (id: string, error: unknown) => void,
): Promise<number> {
  let cleaned = 0;
  while (true) {
    const claimed = await sql<{ id: string; store: StoreName }[]>`
      update file set cleaning_at = now()
       where id in (
         select id from file
          where expires_at <= now()
            and (cleaning_at is null
                 or cleaning_at < now() - make_interval(mins => ${CLAIM_MINUTES}))
          order by expires_at limit ${MOST} for update skip locked)
      returning id, store`;
    for (const { id, store } of claimed) {
      try {
        await stores.named(store).delete(id);
        await deleteRow(sql, id);
        cleaned++;
      } catch (error) {
        onFailure(id, error);
      }
    }
    if (claimed.length < MOST) return cleaned;
  }
}
