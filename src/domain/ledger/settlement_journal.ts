import { join } from "node:path";
import { z } from "zod";
import type { Item } from "./item.ts";

/** Settlements on the disk, written by a process that ends before the database is back. */
export interface JournalFile {
  readonly path: string;
  readonly items: readonly Item[];
  /** Lines that cannot be read, such as the last one of a disk that was full. */
  readonly damaged: number;
  /** How many are pending, and how many can never be settled. */
  left: number;
  failed: number;
}

const NAME = /^settlements-.*\.jsonl$/;
/** Follows the name of a file that is being written. */
const UNFINISHED = ".part";
/** A living writer takes seconds, also on a slow disk. */
const ABANDONED_MS = 600_000;
const digits = z.string().regex(/^\d+$/);
const Line = z.looseObject({
  op: z.enum(["settle", "charge", "void"]),
  id: z.string(),
  num: digits,
  den: digits,
  units: digits,
});

/**
 * Writes a file of its own, durably: several threads may share the folder. It has another name until nothing is written
 * to it any more, because a process that starts meanwhile takes what it finds for complete. What a full disk has taken
 * of it gets its name too: the next start books it.
 */
export async function writeJournal(folder: string, items: readonly Item[]): Promise<JournalFile> {
  await Deno.mkdir(folder, { recursive: true });
  const path = newPath(folder);
  using file = await Deno.open(path + UNFINISHED, NEW_FILE);
  try {
    const bytes = encode(items);
    for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
    await file.sync();
  } finally {
    await Deno.rename(path + UNFINISHED, path);
  }
  // The name is durable when its folder is.
  using entry = await Deno.open(folder);
  await entry.sync();
  return { path, items, damaged: 0, left: items.length, failed: 0 };
}

/** The same for a process that is about to end. */
export function writeJournalSync(folder: string, items: readonly Item[]): string {
  Deno.mkdirSync(folder, { recursive: true });
  const path = newPath(folder);
  using file = Deno.openSync(path + UNFINISHED, NEW_FILE);
  try {
    const bytes = encode(items);
    for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
    file.syncSync();
  } finally {
    Deno.renameSync(path + UNFINISHED, path);
  }
  using entry = Deno.openSync(folder);
  entry.syncSync();
  return path;
}

const NEW_FILE = { write: true, createNew: true, mode: 0o600 };

function newPath(folder: string): string {
  return join(folder, `settlements-${Date.now()}-${crypto.randomUUID()}.jsonl`);
}

function encode(items: readonly Item[]): Uint8Array {
  return new TextEncoder().encode(items.map((item) => JSON.stringify(item) + "\n").join(""));
}

/** The files that are complete, and those that a writer was killed over some time ago. */
export function readJournals(folder: string): JournalFile[] {
  const journals: JournalFile[] = [];
  for (const name of namesIn(folder)) {
    try {
      const path = join(folder, name);
      if (NAME.test(name)) journals.push(readJournal(path));
      else if (isAbandoned(path)) journals.push(readJournal(finish(path)));
    } catch (error) {
      // Another thread of this machine has read and retired it meanwhile.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return journals;
}

function readJournal(path: string): JournalFile {
  const lines = Deno.readTextFileSync(path).split("\n").filter((line) => line !== "");
  const items = lines.map(readLine).filter((item) => item !== null);
  return { path, items, damaged: lines.length - items.length, left: items.length, failed: 0 };
}

function isAbandoned(path: string): boolean {
  const { mtime } = Deno.statSync(path);
  return mtime !== null && Date.now() - mtime.getTime() > ABANDONED_MS;
}

function finish(unfinished: string): string {
  const path = unfinished.slice(0, -UNFINISHED.length);
  Deno.renameSync(unfinished, path);
  return path;
}

/** Removes a file whose settlements are done; a file with settlements that failed or could not be read stays for the operator. */
export function retireJournal({ path, failed, damaged }: JournalFile): void {
  try {
    if (failed + damaged > 0) Deno.renameSync(path, `${path}.failed`);
    else Deno.removeSync(path);
  } catch (error) {
    // Another thread of this machine has read and retired it too.
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) =>
      NAME.test(name.endsWith(UNFINISHED) ? name.slice(0, -UNFINISHED.length) : name)
    );
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function readLine(line: string): Item | null {
  try {
    return Line.parse(JSON.parse(line)) as Item;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return null;
    throw error;
  }
}
