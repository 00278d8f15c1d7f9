import { join } from "node:path";
import { z } from "zod";
import type { Item } from "./item.ts";

/** Settlements that a process left on the disk when it ended. */
export interface JournalFile {
  readonly path: string;
  readonly items: readonly Item[];
  /** Lines that cannot be read, such as the last one of a disk that was full. */
  readonly damaged: number;
  /** How many are not over yet, and how many can never be settled. */
  left: number;
  failed: number;
}

const NAME = /^settlements-.*\.jsonl$/;
const digits = z.string().regex(/^\d+$/);
const Line = z.looseObject({
  op: z.literal("settle"),
  id: z.string(),
  num: digits,
  den: digits,
  units: digits,
});

/** Writes a file of its own, durably: several threads may share the folder. */
export function writeJournal(folder: string, items: readonly Item[]): string {
  Deno.mkdirSync(folder, { recursive: true });
  const path = join(folder, `settlements-${Date.now()}-${crypto.randomUUID()}.jsonl`);
  const text = items.map((item) => JSON.stringify(item) + "\n").join("");
  using file = Deno.openSync(path, { write: true, createNew: true, mode: 0o600 });
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) written += file.writeSync(bytes.subarray(written));
  file.syncSync();
  // The name is durable when its folder is.
  using entry = Deno.openSync(folder);
  entry.syncSync();
  return path;
}

export function readJournals(folder: string): JournalFile[] {
  const journals: JournalFile[] = [];
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const lines = Deno.readTextFileSync(path).split("\n").filter((line) => line !== "");
    const items = lines.map(readLine).filter((item) => item !== null);
    journals.push({
      path,
      items,
      damaged: lines.length - items.length,
      left: items.length,
      failed: 0,
    });
  }
  return journals;
}

/** Removes a file whose settlements are over; what could not be settled or read stays for the operator. */
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
    return [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => NAME.test(name));
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
