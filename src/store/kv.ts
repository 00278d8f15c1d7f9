import { join } from "node:path";

/** Opens the key-value store of this machine, a file in `dataDir`. The caller closes it. */
export async function openKv(dataDir: string): Promise<Deno.Kv> {
  await Deno.mkdir(dataDir, { recursive: true });
  return await Deno.openKv(join(dataDir, "kv.sqlite"));
}
