import type postgres from "postgres";
import { describeSqlError, recreateChangedFunctions } from "./recreate_functions.ts";
import {
  type Migration,
  readFunctions,
  readMigrations,
  SHIPPED_SQL,
  type SqlFolders,
} from "./read_sql_files.ts";
import { StorageError } from "./storage_error.ts";

/** The number itself has no meaning; every build of the gateway must use the same one. */
const LOCK = 7_014_255_483;

/** The first migration of the builds before the baseline schema. */
const FIRST_MIGRATION_BEFORE_BASELINE = "accounts";

export interface MigrationResult {
  /** Files of schema migrations that were applied. */
  applied: string[];
  /** Names of functions that were created or replaced. */
  functions: string[];
}

/**
 * Brings the database up to this build: applies the schema migrations that it lacks, and creates again the
 * functions whose text has changed. Schema and functions change in one transaction, so they always match.
 *
 * Several nodes may call this at once. The lock belongs to the transaction, not to the session: it needs no
 * second connection, cannot outlive a crash, and works behind a pooler that assigns sessions per transaction.
 *
 * An older build that starts later puts its own function texts back. A function change that an older build
 * cannot work with must therefore come with a numbered migration: older builds then refuse to start.
 */
export async function migrate(
  sql: postgres.Sql,
  folders: SqlFolders = SHIPPED_SQL,
): Promise<MigrationResult> {
  const migrations = await readMigrations(folders.schema);
  const functions = folders.functions === undefined ? [] : await readFunctions(folders.functions);
  return await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCK})`;
    return {
      applied: await applyMigrations(tx, migrations),
      functions: await recreateChangedFunctions(tx, functions),
    };
  });
}

interface Recorded {
  number: number;
  name: string;
  checksum: string;
}

async function applyMigrations(
  tx: postgres.TransactionSql,
  known: readonly Migration[],
): Promise<string[]> {
  await tx`
    create table if not exists migration (
      number     int primary key,
      name       text not null,
      checksum   text not null,
      applied_at timestamptz not null default now())`;
  const recorded = await tx<Recorded[]>`
    select number, name, checksum from migration order by number`;
  checkHistory(recorded, known);

  const pending = known.slice(recorded.length);
  for (const migration of pending) {
    try {
      await tx.unsafe(migration.text);
    } catch (cause) {
      throw new StorageError(
        `Cannot apply migration ${migration.file}${describeSqlError(cause, migration)}.`,
        { cause },
      );
    }
    await tx`
      insert into migration (number, name, checksum)
      values (${migration.number}, ${migration.name}, ${migration.checksum})`;
  }
  return pending.map(({ file }) => file);
}

/** The recorded migrations must be the first ones of this build, unchanged and without gaps. */
function checkHistory(recorded: readonly Recorded[], known: readonly Migration[]): void {
  if (recorded[0]?.number === 1 && recorded[0].name === FIRST_MIGRATION_BEFORE_BASELINE) {
    throw new StorageError(
      "The database has the schema of a pre-release build, which this build cannot upgrade: " +
        "export what you need with the build that made it, then start this one with an empty " +
        "database (another DATABASE_URL or DATA_DIR).",
    );
  }
  const newest = recorded.at(-1);
  if (newest !== undefined && newest.number > known.length) {
    throw new StorageError(
      `The database is newer than this build: it has migration ${newest.number} (${newest.name}), ` +
        `this build ends at ${known.length}. Upgrade the gateway, or restore an older backup.`,
    );
  }
  for (const [index, row] of recorded.entries()) {
    const migration = known[index]!;
    if (row.number !== migration.number) {
      throw new StorageError(
        `The database lacks migration ${migration.file} although ${newest!.number} ` +
          `(${newest!.name}) is recorded. Restore the table "migration" from a backup.`,
      );
    }
    if (row.checksum !== migration.checksum) {
      throw new StorageError(
        `Migration ${migration.file} was changed after it was applied to this database. ` +
          `Restore the file, and put the change into a new migration.`,
      );
    }
  }
}
