/**
 * `deno task test [--embedded] [--changed[=REF]] [files, folders or options of deno test]`
 *
 * Runs every test on a real Postgres, a few again with the queue in Postgres, and a few again on the embedded
 * database. With arguments, only those tests: on Postgres, or with `--embedded` on the embedded one;
 * `TEST_QUEUE=postgres` puts their queue there; with `--changed`, those that a change reaches. Types are checked by
 * `deno task verify`, not here.
 *
 * Not called test.ts: `deno test` would run it as a test, and it would start itself.
 */
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { StorageError } from "../src/platform/database/storage_error.ts";
import { startSharedBrowser } from "../test/helpers/chromium.ts";
import { makeEmbeddedTemplate, makeServerTemplate } from "../test/helpers/fresh_database.ts";
import {
  addOutcome,
  filesToRepeat,
  noTests,
  readOutcome,
  type TestOutcome,
} from "./test_outcome.ts";
import { groupTests, writeGroups } from "./test_groups.ts";
import { changedFiles, changedTests } from "./changed_tests.ts";
import { openMemoryFolder } from "./memory_folder.ts";
import { type RunningPostgres, startPostgres } from "./postgres.ts";

/**
 * What must hold on the embedded database too: its own tests, every endpoint once, and the journeys that write
 * most. The rules above the database do not depend on it, so the other tests run once.
 */
const EMBEDDED_PART = [
  "src/platform/database/*_test.ts",
  "test/journeys/{chat,examples,money,tasks}_test.ts",
];

/** What must hold with the queue in Postgres too: every kind of job, and workers that are killed. */
const QUEUE_PART = [
  "test/journeys/{examples,tasks,webhooks}_test.ts",
  "test/faults/task_{killed,races}_test.ts",
];

const ALL = ["{providers,scripts,src,test}/**/*_test.{ts,tsx}"];

const ROOT = join(import.meta.dirname!, "..");
/** Modules that import the test files of a group. */
const GROUPS = ".cache/tests";

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, () => stopping.abort());
}
const memory = openMemoryFolder();
const outcome = await testAll(Deno.args).catch((error) => {
  // The database for the tests could not be started. A message for people needs no stack.
  console.error(error instanceof StorageError ? error.message : error);
  return { ...noTests(), failed: 1 };
});
memory[Symbol.dispose]();
// Repeated at the end: a log that keeps only its last lines still says what failed.
for (const report of outcome.reports) console.log(report);
for (const file of outcome.unstable) {
  console.log(`UNSTABLE: ${file} failed, and passed when run alone`);
}
console.log(`${outcome.passed} passed, ${outcome.failed} failed`);
Deno.exit(stopping.signal.aborted ? 130 : outcome.failed > 0 ? 1 : 0);

async function testAll(args: string[]): Promise<TestOutcome> {
  const changed = args.find((arg) => /^--changed(=|$)/.test(arg));
  const chosen = args.filter((arg) => arg !== "--embedded" && arg !== changed);
  const parts = changed === undefined
    ? null
    : changedTests(changed, await changedFiles(ROOT, changed));
  if (args.includes("--embedded")) return await testEmbedded(chosen);
  if (parts !== null) return await testOnServer(parts.map((part) => [...part, ...chosen]));
  const total = await testOnServer([chosen]);
  if (chosen.length === 0) addOutcome(total, await testEmbedded(await filesOf(EMBEDDED_PART)));
  return total;
}

/** Runs each list of arguments; the empty list stands for all tests. */
async function testOnServer(lists: string[][]): Promise<TestOutcome> {
  const total = noTests();
  if (lists.length === 0) return total;
  const isWhole = lists.some((list) => list.length === 0);
  // For a few files, each test that needs a browser starts its own.
  await using browser = isWhole ? await startSharedBrowser() : null;
  const given = Deno.env.get("TEST_DATABASE_URL");
  let started: RunningPostgres | undefined;
  try {
    started = given === undefined ? await startPostgres({ dir: memory.path }) : undefined;
    const server = given ?? started!.url;
    const env = {
      TEST_DATABASE_URL: server,
      TEST_TEMPLATE: await makeServerTemplate(server),
      ...(browser === null ? {} : { TEST_BROWSER: browser.url }),
    };
    if (isWhole) await makeEmbeddedTemplate();
    for (const list of lists) {
      addOutcome(
        total,
        list.length === 0 ? await runTwice(await allTests(), env) : await denoTest(list, env),
      );
    }
    if (isWhole && !stopping.signal.aborted) {
      console.log("\nAgain, with the queue in Postgres:");
      addOutcome(
        total,
        await runTwice(await filesOf(QUEUE_PART), { ...env, TEST_QUEUE: "postgres" }),
      );
    }
    return total;
  } finally {
    await started?.stop();
  }
}

async function testEmbedded(chosen: string[]): Promise<TestOutcome> {
  if (stopping.signal.aborted || chosen.length === 0) return noTests();
  console.log("\nAgain, on the embedded database:");
  await makeEmbeddedTemplate();
  // Its tests run with all permissions, which the folder in memory needs.
  const temporary: Record<string, string> = memory.path === undefined
    ? {}
    : { TMPDIR: memory.path };
  return await runTwice(chosen, { TEST_STORE: "embedded", ...temporary });
}

async function filesOf(patterns: string[]): Promise<string[]> {
  const files: string[] = [];
  for (const pattern of patterns) {
    for await (const file of glob(pattern, { cwd: ROOT })) files.push(file);
  }
  return files.sort();
}

/** Modules that import all test files, several each (see groupTests). */
async function allTests(): Promise<string[]> {
  const groups = groupTests(await filesOf(ALL), GROUPS);
  await Deno.remove(join(ROOT, GROUPS), { recursive: true }).catch(() => {});
  await writeGroups(ROOT, groups);
  return groups.map(({ module }) => module);
}

/** Runs the tests, and those files that failed once more, alone. */
async function runTwice(chosen: string[], env: Record<string, string>): Promise<TestOutcome> {
  const { files, ...first } = await denoTest(chosen, env);
  const repeated = filesToRepeat(files);
  if (repeated.length === 0) return first;
  console.log(`\nAgain, one at a time: ${repeated.join(" ")}`);
  const { files: _, ...second } = await denoTest([...repeated], { ...env, DENO_JOBS: "1" });
  // Of these files the first run counted some tests as passed; they are not counted again.
  if (second.failed > 0) return first;
  return { ...first, passed: first.passed + first.failed, failed: 0, unstable: [...repeated] };
}

/** Runs `deno test` and shows its output. */
async function denoTest(
  chosen: string[],
  env: Record<string, string>,
): Promise<ReturnType<typeof readOutcome>> {
  if (stopping.signal.aborted) return { ...noTests(), files: [] };
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "test",
      "-A",
      "--no-check",
      // No test may leave a timer, a connection or a file open.
      "--sanitize-ops",
      "--sanitize-resources",
      "--parallel",
      ...chosen,
    ],
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
    env: {
      // More than there are processors: tests wait most of the time.
      DENO_JOBS: String(navigator.hardwareConcurrency + 2),
      // `deno test` writes no colors into a pipe by itself.
      ...(Deno.stdout.isTerminal() ? { FORCE_COLOR: "1" } : {}),
      ...Deno.env.toObject(),
      ...env,
    },
  }).spawn();
  const stop = () => {
    try {
      child.kill("SIGTERM");
    } catch {
      // It has just ended by itself.
    }
  };
  stopping.signal.addEventListener("abort", stop);
  let output = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    await Deno.stdout.write(new TextEncoder().encode(text));
    output += text;
  }
  const { success } = await child.status;
  stopping.signal.removeEventListener("abort", stop);

  return readOutcome(output, success);
}
