import { join } from "node:path";

/** A folder for a configuration file that is yet to be written. */
export async function openConfigFolder() {
  const folder = await Deno.makeTempDir();
  const file = join(folder, "gateway.yaml");
  return {
    folder,
    file,
    read: () => Deno.readTextFile(file),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}
