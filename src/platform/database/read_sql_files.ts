import { StorageError } from "./storage_error.ts";

/** A file of SQL. The checksum tells whether it is the one that was applied to a database. */
export interface SqlFile {
  name: string;
  /** The name on disk. */
  file: string;
  text: string;
  checksum: string;
}

export interface Migration extends SqlFile {
  number: number;
}

/** Where the SQL of a build is: numbered schema migrations, and one file per function. */
export interface SqlFolders {
  schema: URL;
  functions?: URL;
}

export const SHIPPED_SQL: SqlFolders = {
  schema: new URL("./schema/", import.meta.url),
  functions: new URL("./functions/", import.meta.url),
};

const MIGRATION_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;
const FUNCTION_NAME = /^([a-z0-9_]+)\.sql$/;

/** The migrations of a folder in order: numbered from 1, without a gap. */
export async function readMigrations(folder: URL): Promise<Migration[]> {
  const migrations: Migration[] = [];
  for (const file of await listSqlFiles(folder)) {
    const match = MIGRATION_NAME.exec(file);
    if (match === null) {
      throw new StorageError(`Migration ${file} must be named like 0001_what_it_does.sql.`);
    }
    migrations.push({ number: Number(match[1]), ...await readSqlFile(folder, file, match[2]!) });
  }
  for (const [index, migration] of migrations.entries()) {
    if (migration.number !== index + 1) {
      throw new StorageError(
        `Migrations must be numbered without a gap: expected ${
          index + 1
        }, found ${migration.file}.`,
      );
    }
  }
  return migrations;
}

/** The functions of a folder. Each file creates the function that it is named after. */
export async function readFunctions(folder: URL): Promise<SqlFile[]> {
  const functions: SqlFile[] = [];
  for (const file of await listSqlFiles(folder)) {
    const match = FUNCTION_NAME.exec(file);
    const read = match === null ? null : await readSqlFile(folder, file, match[1]!);
    if (!read?.text.includes(`create or replace function ${read.name}(`)) {
      throw new StorageError(
        `${file} must be named after the function that it creates with "create or replace function".`,
      );
    }
    functions.push(read);
  }
  return functions;
}

async function listSqlFiles(folder: URL): Promise<string[]> {
  const files = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
  return files.filter((name) => name.endsWith(".sql")).sort();
}

async function readSqlFile(folder: URL, file: string, name: string): Promise<SqlFile> {
  // A checkout on Windows may change line endings; the checksum must not change with them.
  const text = (await Deno.readTextFile(new URL(file, folder))).replaceAll("\r\n", "\n");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return { name, file, text, checksum: new Uint8Array(digest).toHex() };
}
