import { countAccounts } from "../domain/accounts/accounts.ts";
import type { Database } from "../platform/database/database.ts";
import { holdsEmbedded } from "../platform/database/embedded_folder.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { Settings } from "./environment.ts";

/** A first start on a server whose data folder has an embedded database: its accounts and money are not on the server. */
export async function warnOfForgottenData(
  { kind, sql, describe }: Pick<Database, "kind" | "sql" | "describe">,
  { dataDir, log }: Pick<Settings, "dataDir"> & { log: Pick<Log, "warn"> },
): Promise<void> {
  if (kind === "embedded" || !await holdsEmbedded(dataDir)) return;
  if (await countAccounts(sql) > 0) return;
  log.warn("database is empty but the data folder has one, stop and run gateway move", {
    database: describe,
    data_dir: dataDir,
    command: `gateway move --from ${dataDir} --to <DATABASE_URL>`,
  });
}
