import { join } from "node:path";
import { newId } from "../../lib/ids.ts";
import type { Queries } from "../../platform/database/database.ts";

export interface UnlistedBytesOptions {
  sql: Queries;
  /** The folder of the local store. */
  root: string;
  /** Bytes this young may belong to a row that is being written. */
  youngMs?: number;
  /** How long bytes without a row are set aside before they are deleted. */
  keepMs?: number;
}

const DAY_MS = 86_400_000;
/** Folders per sweep, of about a thousand: a full pass takes half an hour. */
const FOLDERS = 32;
/** An id begins with its prefix and the time it was made at. */
const TIME_END = "file_".length + 10;
const NAME = /^(file_[0-9a-z]{26})(\.part|\.unlisted)?$/;

/**
 * Finds bytes in the local store without a row: written by a process that was paused until its row was deleted,
 * or newer than a database backup that was restored. They are set aside for a week before they are deleted, and
 * restored if their row exists again.
 */
export class UnlistedBytes {
  readonly #options: Required<UnlistedBytesOptions>;
  #after = "";
  #first: string | null = null;

  constructor(options: UnlistedBytesOptions) {
    this.#options = { youngMs: DAY_MS, keepMs: 7 * DAY_MS, ...options };
  }

  /** Checks the next folders. */
  async sweep(): Promise<{ setAside: number; deleted: number }> {
    const names = await folders(this.#options.root);
    const next = names.filter((name) => name > this.#after).slice(0, FOLDERS);
    this.#after = next.length < FOLDERS ? "" : next.at(-1)!;
    const swept = { setAside: 0, deleted: 0 };
    for (const name of next) await this.#sweepFolder(join(this.#options.root, name), swept);
    return swept;
  }

  /** Bytes older than the database belong to another database: the gateway may be connected to the wrong one. */
  async #firstId(): Promise<string> {
    if (this.#first === null) {
      const [{ ms }] = await this.#options.sql<[{ ms: number }]>`
        select floor(extract(epoch from min(applied_at)) * 1000)::float8 as ms from migration`;
      this.#first = newId("file", ms).slice(0, TIME_END);
    }
    return this.#first;
  }

  async #sweepFolder(
    folder: string,
    swept: { setAside: number; deleted: number },
  ): Promise<void> {
    const { sql, youngMs, keepMs } = this.#options;
    const first = await this.#firstId();
    const found = (await oldFiles(folder, youngMs)).filter(({ id }) => id >= first);
    if (found.length === 0) return;
    const rows = await sql<{ id: string }[]>`
      select id from file where id = any (${found.map(({ id }) => id)})`;
    const known = new Set(rows.map(({ id }) => id));
    for (const { id, path, isSetAside, ageMs } of found) {
      if (known.has(id)) {
        if (isSetAside) await Deno.rename(path, join(folder, id));
      } else if (!isSetAside) {
        // The time of the file is from here on the time at which it was set aside.
        await Deno.utime(path, new Date(), new Date());
        await Deno.rename(path, join(folder, `${id}.unlisted`));
        swept.setAside++;
      } else if (ageMs > keepMs) {
        await Deno.remove(path);
        swept.deleted++;
      }
    }
  }
}

async function folders(root: string): Promise<string[]> {
  try {
    const entries = await Array.fromAsync(Deno.readDir(root));
    return entries.filter(({ isDirectory }) => isDirectory).map(({ name }) => name).sort();
  } catch (error) {
    // Made with the first file.
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

interface Found {
  id: string;
  path: string;
  isSetAside: boolean;
  ageMs: number;
}

async function oldFiles(folder: string, youngMs: number): Promise<Found[]> {
  const found: Found[] = [];
  for await (const { name, isFile } of Deno.readDir(folder)) {
    const [, id, suffix] = NAME.exec(name) ?? [];
    if (!isFile || id === undefined) continue;
    const path = join(folder, name);
    const stat = await Deno.stat(path).catch((error) => {
      // Deleted meanwhile.
      if (error instanceof Deno.errors.NotFound) return null;
      throw error;
    });
    const ageMs = Date.now() - (stat?.mtime ?? new Date()).getTime();
    const isSetAside = suffix === ".unlisted";
    if (stat !== null && (isSetAside || ageMs > youngMs)) {
      found.push({ id, path, isSetAside, ageMs });
    }
  }
  return found;
}
