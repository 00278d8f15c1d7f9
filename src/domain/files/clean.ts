import type { Queries } from "../../platform/database/database.ts";
import { deleteRow } from "./rows.ts";
import type { StoreName, Stores } from "./stores.ts";

const MOST = 100;
/** After which a cleaner that took a file on is taken for dead. */
const CLAIM_MINUTES = 10;

/**
 * Takes away what is past its time, bytes first, and what was never finished. On the database's clock; any
 * number of nodes may do it at once. Bytes that cannot be deleted are tried again later.
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
