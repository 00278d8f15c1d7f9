import { dirname } from "node:path";
import { type SettingsEdit, SettingsError } from "./settings_edit.ts";

/** What becomes of one file; a text of null: it is not there. */
export interface Change {
  readonly path: string;
  readonly from: string | null;
  readonly to: string | null;
  /** The copy of the file as it was: kept as it is, written, or removed. */
  readonly backup: "keep" | "write" | "remove";
}

/** The changes that put the settings into the files. Reads, and writes nothing. */
export async function planApply(edits: readonly SettingsEdit[]): Promise<Change[]> {
  return await Promise.all(edits.map(async (edit): Promise<Change> => {
    const from = await readOrNull(edit.path);
    const to = edit.apply(from ?? "");
    const isCopied = await readOrNull(backupOf(edit.path)) !== null;
    // The copy is of the file without our settings: a second run does not replace it.
    const backup = isCopied && edit.isApplied(from ?? "") ? "keep" : "write";
    return { path: edit.path, from, to, backup };
  }));
}

/** The changes that take the settings out of the files. */
export async function planRemove(edits: readonly SettingsEdit[]): Promise<Change[]> {
  return await Promise.all(edits.map(async (edit): Promise<Change> => {
    const from = await readOrNull(edit.path);
    if (from === null || !edit.isApplied(from)) {
      return { path: edit.path, from, to: from, backup: "keep" };
    }
    const to = edit.remove(from, await readOrNull(backupOf(edit.path)) ?? "");
    return { path: edit.path, from, to: to === "" ? null : to, backup: "remove" };
  }));
}

/** Makes a change; the file is replaced in one step, so that no reader sees half of it. */
export async function makeChange({ path, from, to, backup }: Change): Promise<void> {
  if (from === to) return;
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // The copy of a file that was not there is empty.
  if (backup === "write") await replaceFile(backupOf(path), from ?? "");
  if (to === null) await Deno.remove(path);
  else await replaceFile(path, to);
  if (backup === "remove") await removeIfThere(backupOf(path));
}

export function backupOf(path: string): string {
  return `${path}.before-connect`;
}

async function replaceFile(path: string, text: string): Promise<void> {
  // Settings are often a link into a folder under version control: the link stays.
  const target = await Deno.realPath(path).catch(orMissing) ?? path;
  const temporary = `${target}.${crypto.randomUUID()}.tmp`;
  try {
    using file = await Deno.open(temporary, { write: true, createNew: true, mode: 0o600 });
    const bytes = new TextEncoder().encode(text);
    for (let written = 0; written < bytes.length;) {
      written += await file.write(bytes.subarray(written));
    }
    await file.sync();
    await Deno.rename(temporary, target);
  } catch (error) {
    await removeIfThere(temporary);
    throw new SettingsError(`${path} cannot be written: ${(error as Error).message}`);
  }
}

async function readOrNull(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw new SettingsError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

async function removeIfThere(path: string): Promise<void> {
  await Deno.remove(path).catch(orMissing);
}

function orMissing(error: unknown): undefined {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
