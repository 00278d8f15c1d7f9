import { StorageError } from "./storage_error.ts";

export interface Migration {
  number: number;
  name: string;
  /** As it is called on disk. */
  file: string;
  text: string;
  checksum: string;
}

const SHIPPED = new URL("./migrations/", import.meta.url);
const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;

/** The migrations of a folder in order: numbered from 1, without a gap. */
export async function readMigrations(folder: URL = SHIPPED): Promise<Migration[]> {
  const migrations: Migration[] = [];
  for await (const { name: file } of Deno.readDir(folder)) {
    if (!file.endsWith(".sql")) continue;
    const match = FILE_NAME.exec(file);
    if (match === null) {
      throw new StorageError(`Migration ${file} must be named like 0001_what_it_does.sql.`);
    }
    // A checkout on Windows may change line endings; that is not a change of the migration.
    const text = (await Deno.readTextFile(new URL(file, folder))).replaceAll("\r\n", "\n");
    migrations.push({
      number: Number(match[1]),
      name: match[2]!,
      file,
      text,
      checksum: await sha256(text),
    });
  }
  migrations.sort((a, b) => a.number - b.number);
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

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).toHex();
}
