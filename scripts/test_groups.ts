/**
 * Test files that run in one isolate, one after the other. Each isolate loads the gateway's modules and runs their code
 * unoptimized at first: for a test of an endpoint that takes longer than the test itself.
 */
import { dirname, join, relative } from "node:path";

export interface TestGroup {
  /** Imports the files. Its name does not end like a test's: `deno test` alone does not find it. */
  readonly module: string;
  readonly files: readonly string[];
}

const FILES_MAX = 8;
/** Folders and files that share with none. */
const ALONE = [
  "test/browser/", // each is long, and most of it is the browser's work
  "test/journeys/form_limits_test.ts", // changes schemas, before checks are compiled from them
];
/** Where tests are long. They go first, so that no long one is left when the others have ended. */
const LONG = "test";

/** Divides test files into groups, by folder. The files of a folder are dealt out: long ones are often neighbors. */
export function groupTests(files: readonly string[], folder: string): TestGroup[] {
  const folders = Map.groupBy(files, (file) => dirname(file).split("/").slice(0, 2).join("/"));
  return [...folders]
    .sort(([a], [b]) => order(a).localeCompare(order(b)))
    .flatMap(([name, members]) =>
      dealOut(members).map((files, at) => ({
        // In one folder: of several, `deno test` takes one after the other, in an order of its own.
        module: join(folder, `${name.replaceAll("/", ".")}.${at + 1}.ts`),
        files,
      }))
    );
}

function dealOut(files: readonly string[]): string[][] {
  const { true: alone = [], false: others = [] } = Object.groupBy(
    files,
    (file) => `${ALONE.some((path) => file.startsWith(path))}` as const,
  );
  const count = Math.ceil(others.length / FILES_MAX);
  return [
    ...alone.map((file) => [file]),
    ...Array.from({ length: count }, (_, at) => others.filter((_, n) => n % count === at)),
  ];
}

const order = (folder: string) => `${folder.split("/")[0] === LONG ? 0 : 1} ${folder}`;

/** Writes the module of each group. Paths are relative to `root`. */
export async function writeGroups(root: string, groups: readonly TestGroup[]): Promise<void> {
  for (const { module, files } of groups) {
    await Deno.mkdir(join(root, dirname(module)), { recursive: true });
    const lines = files.map((file) => `import "${relative(dirname(module), file)}";\n`);
    await Deno.writeTextFile(join(root, module), lines.join(""));
  }
}
