/**
 * `deno run -A scripts/build_site.ts [--check]`
 *
 * Bundles every island of src/site/islands into src/site/assets, one file each, with the bundler that
 * comes with Deno. The results are committed: a gateway starts without building anything, and
 * `deno task verify` fails when they differ from what the sources give.
 */
import { join } from "node:path";

const ROOT = join(import.meta.dirname!, "..");
const ISLANDS = join(ROOT, "src/site/islands");
const ASSETS = join(ROOT, "src/site/assets");
const isCheck = Deno.args.includes("--check");

const stale: string[] = [];
const made = await bundleAll();
await Deno.mkdir(ASSETS, { recursive: true });
for (const [name, text] of made) {
  const path = join(ASSETS, name);
  const before = await Deno.readTextFile(path).catch(() => null);
  if (before === text) continue;
  if (isCheck) stale.push(name);
  else await Deno.writeTextFile(path, text);
}
for await (const { name } of Deno.readDir(ASSETS)) {
  if (made.has(name)) continue;
  if (isCheck) stale.push(name);
  else await Deno.remove(join(ASSETS, name));
}
if (stale.length > 0) {
  console.error(`Not built from their sources: ${stale.join(", ")}. Run \`deno task generate\`.`);
  Deno.exit(1);
}

async function bundleAll(): Promise<Map<string, string>> {
  const built = await Deno.makeTempDir({ prefix: "tollgate-site-" });
  try {
    const bundles = new Map<string, string>();
    for await (const { name, isFile } of Deno.readDir(ISLANDS)) {
      // A file whose name starts with an underscore is shared by islands and is not one itself.
      if (!isFile || !/^[a-z]\w*\.ts$/.test(name) || name.endsWith("_test.ts")) continue;
      const bundle = name.replace(/\.ts$/, ".js");
      await bundleOne(join(ISLANDS, name), join(built, bundle));
      bundles.set(bundle, await Deno.readTextFile(join(built, bundle)));
    }
    return bundles;
  } finally {
    await Deno.remove(built, { recursive: true });
  }
}

async function bundleOne(source: string, target: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--platform", "browser", "--minify", source, "-o", target],
    cwd: ROOT,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`Cannot bundle ${source}: ${new TextDecoder().decode(stderr)}`);
}
