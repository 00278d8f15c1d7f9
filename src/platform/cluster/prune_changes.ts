import type { Queries } from "../database/database.ts";

/** Far above the time that a paused node may sleep: it must read every change that came meanwhile. */
const KEEP_DAYS = 400;

/** Deletes old changes and activations. The newest change stays: new nodes count from its number. */
export async function pruneChanges(sql: Queries): Promise<void> {
  await sql`
    delete from change
     where created_at < now() - make_interval(days => ${KEEP_DAYS}) and number < (select max(number) from change)`;
  await sql`
    delete from config_activation a
     where activated_at < now() - make_interval(days => ${KEEP_DAYS})
       and not exists (select from node n where n.config_version = a.version)`;
}
