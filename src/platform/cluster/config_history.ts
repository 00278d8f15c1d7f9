import type { ConfigText } from "../config/config_store.ts";
import type { Queries } from "../database/database.ts";

/** A configuration that was in force before, as it was written. */
export interface PreviousConfig extends ConfigText {
  readonly version: string;
  readonly activatedAt: Date;
}

const KEPT = 100;

/** Records that a configuration is in force. Every node calls it; one row is written for each change. */
export async function recordActivation(sql: Queries, version: string): Promise<void> {
  await sql`
    with recorded as (
      insert into config_history (version)
      select ${version}
       where (select version from config_history order by number desc limit 1)
             is distinct from ${version}
      returning number)
    delete from config_history h using recorded r where h.number < r.number - ${KEPT}::bigint`;
}

/** The configuration that was in force before `version`; null when there was none, or its text is gone. */
export async function findPreviousConfig(
  sql: Queries,
  version: string,
): Promise<PreviousConfig | null> {
  const [row] = await sql<
    [{ version: string; source: string; files: Record<string, string>; activated_at: Date }?]
  >`
    select h.version, c.source, c.files, h.activated_at
      from config_history h join config_version c on c.version = h.version
     where h.version <> ${version}
     order by h.number desc limit 1`;
  if (row === undefined) return null;
  const { source, files, activated_at: activatedAt } = row;
  return { version: row.version, source, files: new Map(Object.entries(files)), activatedAt };
}
