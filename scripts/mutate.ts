/**
 * `deno task mutate <folders or files> [options]`: makes mistakes in the code, one at a time, and reports those
 * that no test notices. docs/contribute/testing.md says how to read the report.
 *
 *   --tests <folder or file>   use only these tests; may be repeated (default: src and test)
 *   --seconds <n>              time for the tests of one mutant (default: 60)
 *   --since <git ref>          only lines changed since then
 *   --sample <n> --seed <s>    n mutants chosen at random
 *   --jobs <n>                 mutants tried at the same time (default: one per processor)
 *
 * Mutants run in copies of the project; the work tree is not touched. Runs on a Postgres of its own, or on that of
 * `TEST_DATABASE_URL`. What it finds out is kept in .cache/mutate until the code or the tests change.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Random } from "../test/fuzz/random.ts";
import { makeServerTemplate } from "../test/helpers/fresh_database.ts";
import { trackedFiles } from "./check_tree.ts";
import { changedLines } from "./mutation/changed_lines.ts";
import { measureReach } from "./mutation/coverage.ts";
import {
  type Explanation,
  findExplanation,
  readExplanations,
  unusedExplanations,
} from "./mutation/explained.ts";
import { changeOf, type Mutant, mutantsOf } from "./mutation/mutants.ts";
import { describe, isSurvivor, scoreTable } from "./mutation/report.ts";
import { makeSandbox, type Sandbox } from "./mutation/sandbox.ts";
import { openStore, type Store } from "./mutation/store.ts";
import { readTests, type TestFile } from "./mutation/test_graph.ts";
import { type MeasuredTest, TestRank, type Tried, tryMutant } from "./mutation/try_mutant.ts";
import { startPostgres } from "./postgres.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url)).replace(/\/$/, "");
const EXPLAINED = "test/mutation/explained.json";
/** Run for minutes, or look at a browser instead of a value. */
const TOO_SLOW = /^test\/(?:bench|browser|chaos|process)\//;

const stopping = new AbortController();
if (import.meta.main) {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => stopping.abort());
  }
  const status = await mutate().catch((error) => {
    if (stopping.signal.aborted) return 130;
    throw error;
  });
  Deno.exit(status);
}

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      tests: { type: "string", multiple: true, default: ["src", "test"] },
      seconds: { type: "string", default: "60" },
      since: { type: "string" },
      sample: { type: "string" },
      seed: { type: "string", default: "1" },
      jobs: { type: "string", default: String(navigator.hardwareConcurrency) },
    },
  });
  return { ...values, paths: positionals.map((path) => path.replace(/\/$/, "")) };
}

type Options = ReturnType<typeof readOptions>;

async function mutate(): Promise<number> {
  const options = readOptions();
  const files = await presentFiles();
  const mutants = await chooseMutants(options, files);
  if (mutants.length === 0) {
    console.error("There is nothing to mutate: name folders or files of the source.");
    return 2;
  }
  await using stack = new AsyncDisposableStack();
  const given = Deno.env.get("TEST_DATABASE_URL");
  const server = given ?? stack.use(await startPostgres()).url;
  const env = {
    TEST_DATABASE_URL: server,
    TEST_TEMPLATE: await makeServerTemplate(server),
    NO_COLOR: "1",
  };
  const jobs = Array.from(
    { length: Number(options.jobs) },
    () => makeSandbox(ROOT, { files, env, signal: stopping.signal }),
  );
  const sandboxes = (await Promise.all(jobs)).map((sandbox) => stack.use(sandbox));
  const store = await openStore(join(ROOT, ".cache/mutate"));

  const tests = await findTests(options, files, new Set(mutants.map(({ path }) => path)));
  const measured = await measureTests(tests, sandboxes, store);
  const explanations = await readExplanations(join(ROOT, EXPLAINED));
  const trial = {
    tests: measured,
    store,
    rank: new TestRank(),
    secondsMax: Number(options.seconds),
  };
  const tried: Tried[] = [];
  console.log(`${mutants.length} mutants, ${measured.length} test files`);
  await share(sandboxes, mutants, async (sandbox, mutant) => {
    tried.push(await tryMutant(sandbox, mutant, trial));
    showProgress(`${tried.length} of ${mutants.length}`);
  });
  const isWhole = options.since === undefined && options.sample === undefined;
  return report(tried, explanations, isWhole);
}

/** Files of the work tree, changed and new ones too. */
async function presentFiles(): Promise<string[]> {
  const tracked = await trackedFiles();
  const present = await Promise.all(
    tracked.map((path) => Deno.stat(join(ROOT, path)).then(({ isFile }) => isFile, () => false)),
  );
  return tracked.filter((_, index) => present[index]);
}

async function chooseMutants(options: Options, files: readonly string[]): Promise<Mutant[]> {
  const paths = files.filter((path) =>
    /\.tsx?$/.test(path) && !/_test\.tsx?$/.test(path) && isUnder(path, options.paths)
  );
  const mutants: Mutant[] = [];
  for (const path of paths) {
    mutants.push(...mutantsOf(path, await Deno.readTextFile(join(ROOT, path))));
  }
  const changed = options.since === undefined ? null : await changedLines(ROOT, options.since);
  const chosen = mutants.filter(({ path, line }) =>
    changed?.get(path)?.has(line) ?? changed === null
  );
  return options.sample === undefined
    ? chosen
    : pickSome(chosen, Number(options.sample), new Random(Number(options.seed)));
}

function pickSome<T>(values: readonly T[], count: number, random: Random): T[] {
  const rest = [...values];
  const picked: T[] = [];
  while (picked.length < count && rest.length > 0) {
    picked.push(...rest.splice(random.below(rest.length), 1));
  }
  return picked;
}

function isUnder(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

async function findTests(
  options: Options,
  files: readonly string[],
  mutated: ReadonlySet<string>,
): Promise<TestFile[]> {
  const paths = files.filter((path) =>
    /_test\.tsx?$/.test(path) && isUnder(path, options.tests) && !TOO_SLOW.test(path)
  );
  const tests = await readTests(ROOT, paths, files);
  return tests.filter(({ imports }) => !mutated.isDisjointFrom(imports));
}

/** Runs each test file once without a mutant: how long it takes, and which lines it reaches. */
async function measureTests(
  tests: readonly TestFile[],
  sandboxes: readonly Sandbox[],
  store: Store,
): Promise<MeasuredTest[]> {
  const measured: MeasuredTest[] = [];
  let done = 0;
  await share(sandboxes, tests, async (sandbox, test) => {
    let reach = await store.reachOf(test.hash);
    if (reach === null) {
      reach = await measureReach(sandbox, test.path);
      if (reach.passes) await store.keepReach(test.hash, reach);
    }
    if (reach.passes) measured.push({ ...test, reach });
    else console.error(`${test.path} fails without a mutant: it is not used`);
    showProgress(`coverage of ${++done} of ${tests.length} test files`);
  });
  return measured;
}

/** Lets every sandbox take the next item until none is left. */
async function share<T>(
  sandboxes: readonly Sandbox[],
  items: readonly T[],
  work: (sandbox: Sandbox, item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const shares = await Promise.allSettled(sandboxes.map(async (sandbox) => {
    for (const item of queue) await work(sandbox, item);
  }));
  // Not before all have ended: their folders are removed after this.
  const failed = shares.find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

function showProgress(text: string): void {
  if (Deno.stderr.isTerminal()) Deno.stderr.writeSync(new TextEncoder().encode(`\r${text}\x1b[K`));
}

/** `isWhole`: every mutant of the files was tried. */
function report(
  tried: readonly Tried[],
  explanations: readonly Explanation[],
  isWhole: boolean,
): number {
  showProgress("");
  const inOrder = tried.toSorted(({ mutant: a }, { mutant: b }) =>
    a.path === b.path ? a.start - b.start : a.path < b.path ? -1 : 1
  );
  const survivors = inOrder.filter((one) => isSurvivor(one, explanations));
  for (const survivor of survivors) console.log(describe(survivor));
  const explained = inOrder.filter((one) => one.state !== "killed" && !survivors.includes(one));
  for (const { mutant } of explained) {
    const { reason } = findExplanation(explanations, mutant)!;
    console.log(`explained: ${mutant.path}:${mutant.line}: ${changeOf(mutant)}: ${reason}`);
  }
  const living = explained.map(({ mutant }) => mutant);
  const unused = isWhole ? unusedExplanations(explanations, living, pathsOf(tried)) : [];
  for (const { path, line, change = "every change" } of unused) {
    console.log(`${path}: the explanation of ${change} in "${line}" explains nothing: remove it`);
  }
  console.log(scoreTable(tried, explanations));
  return survivors.length + unused.length > 0 ? 1 : 0;
}

function pathsOf(tried: readonly Tried[]): Set<string> {
  return new Set(tried.map(({ mutant }) => mutant.path));
}
