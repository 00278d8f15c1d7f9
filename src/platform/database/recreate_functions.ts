import type postgres from "postgres";
import type { SqlFile } from "./read_sql_files.ts";
import { StorageError } from "./storage_error.ts";

/** Postgres: a function with these argument types exists and has another result or other parameter names. */
const INVALID_FUNCTION_DEFINITION = "42P13";

/**
 * Creates the functions that are missing or whose text differs from the one recorded, and answers their names.
 *
 * A function is replaced where it stands if possible. If its result or its parameters changed, the old one is
 * dropped first; that fails if something else in the database refers to it. A migration removes a function.
 */
export async function recreateChangedFunctions(
  tx: postgres.TransactionSql,
  functions: readonly SqlFile[],
): Promise<string[]> {
  await tx`
    create table if not exists migration_function (
      name       text primary key,
      checksum   text not null,
      applied_at timestamptz not null default now())`;
  const existing = await findFunctions(tx);
  const recorded = new Map(
    (await tx<{ name: string; checksum: string }[]>`select name, checksum from migration_function`)
      .map(({ name, checksum }) => [name, checksum]),
  );
  const changed = functions.filter(({ name, checksum }) =>
    !existing.has(name) || recorded.get(name) !== checksum
  );
  if (changed.length === 0) return [];

  // Functions refer to each other: bodies are checked when all of them exist.
  await tx`set local check_function_bodies = off`;
  for (const file of changed) {
    await reportFile(file, () => createFunction(tx, file, existing.get(file.name) ?? []));
  }
  await tx`set local check_function_bodies = on`;
  for (const file of changed) await reportFile(file, () => checkBody(tx, file.name));

  const rows = changed.map(({ name, checksum }) => ({ name, checksum }));
  await tx`
    insert into migration_function ${tx(rows)}
    on conflict (name) do update set checksum = excluded.checksum, applied_at = now()`;
  return changed.map(({ name }) => name);
}

async function createFunction(
  tx: postgres.TransactionSql,
  { name, text }: SqlFile,
  before: readonly string[],
): Promise<void> {
  if (before.length === 0) {
    await tx.unsafe(text);
    return;
  }
  try {
    await tx.savepoint((part) => part.unsafe(text));
  } catch (error) {
    if ((error as { code?: unknown }).code !== INVALID_FUNCTION_DEFINITION) throw error;
    await dropFunctions(tx, before);
    await tx.unsafe(text);
    return;
  }
  // Other argument types make a second function beside the old one.
  const after = (await findFunctions(tx)).get(name)!;
  if (after.length > before.length) await dropFunctions(tx, before);
}

/** Signatures of the functions in the schema, by name. */
async function findFunctions(tx: postgres.TransactionSql): Promise<Map<string, string[]>> {
  const rows = await tx<{ name: string; signature: string }[]>`
    select proname as name, oid::regprocedure::text as signature from pg_proc
     where pronamespace = current_schema()::regnamespace`;
  const signatures = Map.groupBy(rows, ({ name }) => name);
  return new Map(
    signatures.entries().map(([name, all]) => [name, all.map(({ signature }) => signature)]),
  );
}

async function dropFunctions(
  tx: postgres.TransactionSql,
  signatures: readonly string[],
): Promise<void> {
  for (const signature of signatures) await tx.unsafe(`drop function ${signature}`);
}

async function checkBody(tx: postgres.TransactionSql, name: string): Promise<void> {
  await tx`
    select case lanname when 'sql' then fmgr_sql_validator(p.oid)::text
                        when 'plpgsql' then plpgsql_validator(p.oid)::text end
      from pg_proc p join pg_language l on l.oid = p.prolang
     where pronamespace = current_schema()::regnamespace and proname = ${name}`;
}

async function reportFile(file: SqlFile, step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (cause) {
    throw new StorageError(
      `Cannot create the function of ${file.file}${describeSqlError(cause, file)}.`,
      { cause },
    );
  }
}

/** The line and the reason of an error in a file, to follow its name in a sentence. */
export function describeSqlError(cause: unknown, { text }: SqlFile): string {
  const { message, position } = cause as { message?: string; position?: string };
  const line = position === undefined
    ? ""
    : `, line ${text.slice(0, Number(position)).split("\n").length}`;
  return `${line}: ${message ?? cause}`;
}
