import { join } from "node:path";

/** A test file and what it depends on: its hash changes whenever its outcome may. */
export interface TestFile {
  path: string;
  hash: string;
  /** Paths of the modules it imports, directly or not, from the root of the project. */
  imports: ReadonlySet<string>;
}

interface Graph {
  modules: { specifier: string; dependencies?: Dependency[] }[];
}

interface Dependency {
  code?: { specifier?: string };
}

/** Files that tests read at run time rather than import. */
const READ_AT_RUN_TIME = /^(?:src|schemas|providers|test\/helpers)\/.*\.(?:sql|ya?ml|json)$/;

export async function readTests(
  root: string,
  tests: readonly string[],
  files: readonly string[],
): Promise<TestFile[]> {
  const imports = await importsOf(root, tests);
  const hashes = new Map<string, string>();
  const hashOf = async (path: string) => {
    if (!hashes.has(path)) {
      hashes.set(path, await hashText(await Deno.readTextFile(join(root, path))));
    }
    return hashes.get(path)!;
  };
  const readLater = await Promise.all(
    files.filter((path) => READ_AT_RUN_TIME.test(path)).map(hashOf),
  );
  return await Promise.all(tests.map(async (path) => {
    const reached = reachedFrom(path, imports);
    const parts = await Promise.all([...reached].sort().map(hashOf));
    return { path, imports: reached, hash: await hashText([...parts, ...readLater].join()) };
  }));
}

export async function hashText(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).toHex().slice(0, 16);
}

async function importsOf(
  root: string,
  tests: readonly string[],
): Promise<Map<string, string[]>> {
  const entry = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    const lines = tests.map((path) => `import ${JSON.stringify(`file://${join(root, path)}`)};`);
    await Deno.writeTextFile(entry, lines.join("\n"));
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", "--config", join(root, "deno.json"), entry],
      cwd: root,
      stderr: "inherit",
    }).output();
    const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as Graph;
    return new Map(modules.map(({ specifier, dependencies = [] }) => [
      pathIn(root, specifier) ?? specifier,
      dependencies.map(({ code }) => pathIn(root, code?.specifier)).filter((path) => path !== null),
    ]));
  } finally {
    await Deno.remove(entry);
  }
}

function pathIn(root: string, specifier = ""): string | null {
  const start = `file://${root.replace(/\/?$/, "/")}`;
  return specifier.startsWith(start) ? specifier.slice(start.length) : null;
}

function reachedFrom(path: string, imports: ReadonlyMap<string, string[]>): Set<string> {
  const reached = new Set([path]);
  // A set shows what is added to it while it is walked through.
  for (const at of reached) for (const next of imports.get(at) ?? []) reached.add(next);
  return reached;
}
