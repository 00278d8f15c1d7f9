import { countAccounts } from "../domain/accounts/accounts.ts";
import { verifyLedger } from "../domain/ledger/verify.ts";
import { copyDatabase, type CopyEvents } from "../platform/database/copy_database.ts";
import type { Database } from "../platform/database/database.ts";
import { inDataDir } from "../platform/database/data_dir.ts";
import { holdsEmbedded } from "../platform/database/embedded_folder.ts";
import { migrate } from "../platform/database/migrate.ts";
import { createMissingPartitions } from "../platform/database/partitioned_tables.ts";
import { openDatabase } from "../platform/database/postgres.ts";
import { StorageError } from "../platform/database/storage_error.ts";
import { type Command, optionText, type Terminal, UsageError } from "./command.ts";

/** Comparing a table of millions of rows takes minutes; nothing else waits for the source. */
const STATEMENT_MS = 3_600_000;

/** Rows between two lines about a large table. */
const ROWS_PER_LINE = 100_000;

const PROGRESS: CopyEvents = {
  onTable({ table, rows }) {
    if (rows > 0) console.error(`${table}: ${rows} rows`);
  },
  onRows({ table, rows }) {
    if (rows % ROWS_PER_LINE === 0) console.error(`${table}: ${rows} rows so far`);
  },
};

export const move: Command = {
  usage: "move --from <DATA_DIR> --to <postgres://…>",
  summary: "Copy everything from the embedded database to a Postgres server, and verify it",
  options: {
    from: { type: "string", summary: "Data folder of the gateway, which must not run" },
    to: { type: "string", summary: "URL of an empty database on the server" },
  },
  async run(terminal, _args, options) {
    const [from, to] = [optionText(options, "from"), optionText(options, "to")];
    if (from === undefined || to === undefined) {
      throw new UsageError("Give --from <DATA_DIR> and --to <postgres://…>.");
    }
    if (!await holdsEmbedded(from)) {
      throw new UsageError(`There is no embedded database in ${from}.`);
    }
    const { databaseWaitSeconds: waitSeconds } = terminal.settings;
    const log = { info: (message: string) => console.error(message) };
    const engine = { statementMs: STATEMENT_MS };
    await using source = await inDataDir(from, () => openDatabase({ dataDir: from, engine, log }));
    await using target = await openDatabase({ databaseUrl: to, dataDir: from, waitSeconds, log });
    return await moveAll(terminal, source, target);
  },
};

async function moveAll(terminal: Terminal, source: Database, target: Database): Promise<number> {
  for (const { sql } of [source, target]) {
    await migrate(sql);
    await createMissingPartitions(sql, { isStart: true });
  }
  if (await countAccounts(target.sql) > 0) {
    throw new StorageError(
      `${target.describe} has accounts already. Give an empty database: nothing is merged.`,
    );
  }
  const tables = await copyDatabase(source.sql, target.sql, terminal.json ? {} : PROGRESS);
  const { ok, checks } = await verifyLedger(target.sql);
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const failed = checks.filter((check) => !check.ok).map(({ name, detail }) =>
    `${name}: ${detail}`
  );
  terminal.print(
    { ok, from: source.describe, to: target.describe, tables, checks },
    ok
      ? `Moved ${rows} rows from ${source.describe} to ${target.describe}; every table is the same, and the ledger is ` +
        "verified.\nStart the gateway with DATABASE_URL and the same DATA_DIR, which has files and sessions. The embedded " +
        "database was not changed: remove it when you are sure."
      : `Moved ${rows} rows, and every table is the same, but the ledger has faults:\n${
        failed.join("\n")
      }`,
  );
  return ok ? 0 : 1;
}
