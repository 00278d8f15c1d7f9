import { join } from "node:path";
import { newSecret } from "../lib/ids.ts";

/** The root token of the environment, else one that is generated once and stored readable for this user only. */
export async function findAdminToken(given: string | undefined, dataDir: string): Promise<string> {
  if (given !== undefined) return given;
  const file = join(dataDir, "admin-token");
  await Deno.mkdir(dataDir, { recursive: true, mode: 0o700 });
  try {
    // createNew: of two processes that start at once, one writes and the other reads.
    await Deno.writeTextFile(file, `${newSecret()}\n`, { createNew: true, mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
  return await readAdminToken(dataDir);
}

export async function readAdminToken(dataDir: string): Promise<string> {
  return (await Deno.readTextFile(join(dataDir, "admin-token"))).trim();
}
