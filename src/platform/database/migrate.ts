import type postgres from "postgres";
import { type Migration, readMigrations } from "./read_migrations.ts";
import { StorageError } from "./storage_error.ts";

/** Any number would do, as long as every build of the gateway uses the same one. */
const LOCK = 7_014_255_483;

/**
 * Brings the schema up to this build. Ten nodes may call this at once: each step holds a lock to its
 * commit and looks again at what is recorded, so every migration runs once, whoever gets there first.
 *
 * The lock lives in the transaction, not in the session: it needs no second connection, cannot outlive
 * a crash, and holds behind a pooler that hands out sessions per transaction.
 */
export async function migrate(sql: postgres.Sql, folder?: URL): Promise<{ applied: string[] }> {
  const known = await readMigrations(folder);
  const applied: string[] = [];
  while (true) {
    const next = await sql.begin((tx) => applyNext(tx, known));
    if (next === null) return { applied };
    applied.push(next);
  }
}

interface Recorded {
  number: number;
  name: string;
  checksum: string;
}

async function applyNext(
  tx: postgres.TransactionSql,
  known: readonly Migration[],
): Promise<string | null> {
  await tx`select pg_advisory_xact_lock(${LOCK})`;
  await tx`
    create table if not exists migration (
      number     int primary key,
      name       text not null,
      checksum   text not null,
      applied_at timestamptz not null default now())`;
  const recorded = await tx<Recorded[]>`
    select number, name, checksum from migration order by number`;
  checkHistory(recorded, known);

  const next = known[recorded.length];
  if (next === undefined) return null;
  try {
    await tx.unsafe(next.text);
  } catch (cause) {
    throw new StorageError(`Cannot apply migration ${next.file}${describeFault(cause, next)}.`, {
      cause,
    });
  }
  await tx`
    insert into migration (number, name, checksum)
    values (${next.number}, ${next.name}, ${next.checksum})`;
  return next.file;
}

function describeFault(cause: unknown, { text }: Migration): string {
  const { message, position } = cause as { message?: string; position?: string };
  const line = position === undefined
    ? ""
    : `, line ${text.slice(0, Number(position)).split("\n").length}`;
  return `${line}: ${message ?? cause}`;
}

/** What is recorded must be the beginning of what this build knows, unchanged and without holes. */
function checkHistory(recorded: readonly Recorded[], known: readonly Migration[]): void {
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
