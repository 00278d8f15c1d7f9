import { join } from "node:path";

const ROOT = join(import.meta.dirname!, "../..");

/** The project as it was at a commit, in a folder of its own. */
export interface EarlierTree extends AsyncDisposable {
  readonly folder: string;
  /** Its short id and subject. */
  readonly commit: string;
}

async function git(...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("git", { args, cwd: ROOT }).output();
  const text = new TextDecoder();
  if (!success) throw new Error(`git ${args[0]}: ${text.decode(stderr).trim()}`);
  return text.decode(stdout).trim();
}

/** The newest tag before the current state; null while there is none, or in a clone without history. */
export async function newestTag(): Promise<string | null> {
  const tags = await git("tag", "--merged", "HEAD", "--sort=-creatordate");
  return tags.split("\n")[0] || null;
}

export async function extractTree(ref: string): Promise<EarlierTree> {
  const commit = await git("log", "-1", "--format=%h %s", ref);
  const folder = await Deno.makeTempDir({ prefix: "tollgate-earlier-" });
  const archive = join(folder, "tree.tar");
  await git("archive", `--output=${archive}`, ref);
  const { success } = await new Deno.Command("tar", { args: ["-xf", archive, "-C", folder] })
    .output();
  if (!success) throw new Error(`Cannot extract the tree of ${ref}.`);
  await Deno.remove(archive);
  return { folder, commit, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}
