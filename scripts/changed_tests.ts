/** Files that tests read when they run, and the tests that read them. */
const READ_BY: readonly [file: RegExp, tests: string][] = [
  [/^test\/config_cases\//, "test/config_cases_test.ts"],
  [/^docs\/(?!use\/)|^[A-Z]+\.md$/, "scripts"],
  [/^docs\/use\//, "test/journeys/site_docs_test.ts"],
  [/^deploy\//, "test/deploy_files_test.ts"],
];

const MODULE = /\.(?:ts|tsx|mjs|js)$/;

/**
 * The arguments of `deno test` for a change. Deno itself finds the tests that import a changed module; a
 * changed file of another kind adds the tests that read it, or, where nothing is known of it, all tests.
 * Null: all tests.
 */
export function changedTests(option: string, changed: readonly string[]): string[][] | null {
  const read = new Set<string>();
  for (const file of changed.filter((file) => !MODULE.test(file))) {
    const known = READ_BY.find(([pattern]) => pattern.test(file));
    if (known === undefined) return null;
    read.add(known[1]);
  }
  const byImport = changed.some((file) => MODULE.test(file)) ? [[option, "--permit-no-files"]] : [];
  return read.size === 0 ? byImport : [...byImport, [...read]];
}

/** Files that differ from the reference, or from the last commit, and files that git does not know yet. */
export async function changedFiles(root: string, option: string): Promise<string[]> {
  const reference = /^--changed=(.+)$/.exec(option)?.[1] ?? "HEAD";
  const lists = await Promise.all([
    git(root, ["diff", "--name-only", "-z", reference]),
    git(root, ["ls-files", "--others", "--exclude-standard", "-z"]),
  ]);
  return lists.flatMap((list) => list.split("\0")).filter((path) => path !== "");
}

async function git(root: string, args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("git", { args: ["-C", root, ...args] })
    .output();
  if (!success) throw new Error(new TextDecoder().decode(stderr).trim());
  return new TextDecoder().decode(stdout);
}
