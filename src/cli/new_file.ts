import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "./command.ts";

const SCHEMA = fileURLToPath(new URL("../../schemas/gateway.schema.json", import.meta.url));

/** Where editors find the schema of a configuration file, as seen from its folder. */
export function schemaFor(file: string): string {
  const path = relative(dirname(resolve(file)), SCHEMA);
  return path.startsWith(".") ? path : `./${path}`;
}

export async function refuseExisting(file: string): Promise<void> {
  try {
    await Deno.lstat(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  throw alreadyExists(file);
}

/** Writes a file that does not exist yet, unless it may be replaced. */
export async function writeNewFile(file: string, text: string, isForced: boolean): Promise<void> {
  try {
    await Deno.writeTextFile(file, text, { createNew: !isForced });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) throw alreadyExists(file);
    if (error instanceof Deno.errors.NotFound) {
      throw new UsageError(`Cannot write ${file}: the folder ${dirname(file)} does not exist.`);
    }
    throw error;
  }
}

function alreadyExists(file: string): UsageError {
  return new UsageError(`${file} exists. --force replaces it.`);
}
