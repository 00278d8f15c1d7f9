/** Lines of the work tree that differ from a commit, by path. */
export async function changedLines(root: string, ref: string): Promise<Map<string, Set<number>>> {
  const { success, stdout, stderr } = await new Deno.Command("git", {
    args: ["-C", root, "diff", "--unified=0", "--no-prefix", "--no-color", ref],
  }).output();
  if (!success) {
    throw new Error(`Cannot compare with ${ref}: ${new TextDecoder().decode(stderr)}`);
  }
  return readDiff(new TextDecoder().decode(stdout));
}

export function readDiff(diff: string): Map<string, Set<number>> {
  const changed = new Map<string, Set<number>>();
  let lines = new Set<number>();
  for (const line of diff.split("\n")) {
    const path = /^\+\+\+ (.*)$/.exec(line)?.[1];
    if (path !== undefined) changed.set(path, lines = new Set());
    const part = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (part === null) continue;
    for (let at = 0; at < Number(part[2] ?? 1); at++) lines.add(Number(part[1]) + at);
  }
  return changed;
}
