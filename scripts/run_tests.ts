/**
 * `deno task test [--embedded] [--changed[=REF]] [files, folders or options of deno test]`
 *
 * Runs every test on a real Postgres, a few again with the queue in Postgres, and a few again on the embedded
 * database. With arguments, only those tests: on Postgres, or with `--embedded` on the embedded one;
 * `TEST_QUEUE=postgres` puts their queue there; with `--changed`, those that a change reaches. Types are not checked here but by `deno task verify`.
 *
 * Not called test.ts: `deno test` would run it as a test, and it would start itself.
 */
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { StorageError } from "../src/platform/database/storage_error.ts";
import { startSharedBrowser } from "../test/helpers/chromium.ts";
import { makeEmbeddedTemplate, makeServerTemplate } from "../test/helpers/fresh_database.ts";
import { changedFiles, changedTests } from "./changed_tests.ts";
import { type RunningPostgres, startPostgres } from "./postgres.ts";

/**
 * What must hold on the embedded database too: its own tests, every endpoint once, and the journeys that write
 * most. The rules above the database do not depend on it, so the other tests run once.
 */
const EMBEDDED_PART = [
  "src/platform/database/*_test.ts",
  "test/journeys/{chat,connect,examples,money,people,tasks,webhooks}_test.ts",
];

/** What must hold with the queue in Postgres too: every kind of job, and workers that are killed. */
const QUEUE_PART = [
  "test/journeys/{examples,tasks,webhooks}_test.ts",
  "test/faults/task_{killed,races}_test.ts",
];

const ROOT = join(import.meta.dirname!, "..");
const SUMMARY = /^(?:ok|FAILED) \| (\d+) passed(?: \(\d+ steps?\))? \| (\d+) failed/m;
/** Of one part of the run. */
const REPORT_CHARACTERS_MAX = 20_000;

interface Outcome {
  passed: number;
  failed: number;
  /** What `deno test` printed about the tests that failed. */
  reports: string[];
}

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, () => stopping.abort());
}
const outcome = await testAll(Deno.args).catch((error) => {
  // The database for the tests could not be started. A message for people needs no stack.
  console.error(error instanceof StorageError ? error.message : error);
  return { passed: 0, failed: 1, reports: [] };
});
// Repeated at the end: a log that keeps only its last lines still says what failed.
for (const report of outcome.reports) console.log(report);
console.log(`${outcome.passed} passed, ${outcome.failed} failed`);
Deno.exit(stopping.signal.aborted ? 130 : outcome.failed > 0 ? 1 : 0);

async function testAll(args: string[]): Promise<Outcome> {
  const changed = args.find((arg) => /^--changed(=|$)/.test(arg));
  const chosen = args.filter((arg) => arg !== "--embedded" && arg !== changed);
  const parts = changed === undefined
    ? null
    : changedTests(changed, await changedFiles(ROOT, changed));
  if (args.includes("--embedded")) return await testEmbedded(chosen);
  if (parts !== null) return await testOnServer(parts.map((part) => [...part, ...chosen]));
  const total = await testOnServer([chosen]);
  if (chosen.length === 0) add(total, await testEmbedded(await filesOf(EMBEDDED_PART)));
  return total;
}

/** Runs each list of arguments; the empty list stands for all tests. */
async function testOnServer(lists: string[][]): Promise<Outcome> {
  const total: Outcome = { passed: 0, failed: 0, reports: [] };
  if (lists.length === 0) return total;
  const isWhole = lists.some((list) => list.length === 0);
  // For a few files, each test that needs a browser starts its own.
  await using browser = isWhole ? await startSharedBrowser() : null;
  const given = Deno.env.get("TEST_DATABASE_URL");
  let started: RunningPostgres | undefined;
  try {
    started = given === undefined ? await startPostgres() : undefined;
    const server = given ?? started!.url;
    const env = {
      TEST_DATABASE_URL: server,
      TEST_TEMPLATE: await makeServerTemplate(server),
      ...(browser === null ? {} : { TEST_BROWSER: browser.url }),
    };
    if (isWhole) await makeEmbeddedTemplate();
    for (const list of lists) add(total, await run(list, env));
    if (isWhole && !stopping.signal.aborted) {
      console.log("\nAgain, with the queue in Postgres:");
      add(total, await run(await filesOf(QUEUE_PART), { ...env, TEST_QUEUE: "postgres" }));
    }
    return total;
  } finally {
    await started?.stop();
  }
}

async function testEmbedded(chosen: string[]): Promise<Outcome> {
  if (stopping.signal.aborted || chosen.length === 0) return { passed: 0, failed: 0, reports: [] };
  console.log("\nAgain, on the embedded database:");
  await makeEmbeddedTemplate();
  return await run(chosen, { TEST_STORE: "embedded" });
}

async function filesOf(patterns: string[]): Promise<string[]> {
  const files: string[] = [];
  for (const pattern of patterns) {
    for await (const file of glob(pattern, { cwd: ROOT })) files.push(file);
  }
  return files.sort();
}

/** Runs `deno test`, shows its output, and reads the counts from its last line. */
async function run(chosen: string[], env: Record<string, string>): Promise<Outcome> {
  if (stopping.signal.aborted) return { passed: 0, failed: 0, reports: [] };
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
      // One more than there are processors: tests wait most of the time.
      DENO_JOBS: String(navigator.hardwareConcurrency + 1),
      // `deno test` writes no colors into a pipe by itself.
      ...(Deno.stdout.isTerminal() ? { FORCE_COLOR: "1" } : {}),
      ...Deno.env.toObject(),
      ...env,
    },
  }).spawn();
  const stop = () => child.kill("SIGTERM");
  stopping.signal.addEventListener("abort", stop);
  let output = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    await Deno.stdout.write(new TextEncoder().encode(text));
    output += text;
  }
  const { success } = await child.status;
  stopping.signal.removeEventListener("abort", stop);

  const text = stripVTControlCharacters(output);
  const counts = SUMMARY.exec(text);
  const passed = Number(counts?.[1] ?? 0);
  const failed = Number(counts?.[2] ?? 0);
  if (success) return { passed, failed, reports: [] };
  const start = text.indexOf("\n ERRORS \n");
  const report = start === -1 ? text.slice(-REPORT_CHARACTERS_MAX) : text.slice(start);
  // A file that does not compile, or a leak after the last test, fails without being counted.
  return {
    passed,
    failed: Math.max(failed, 1),
    reports: [report.slice(0, REPORT_CHARACTERS_MAX)],
  };
}

function add(total: Outcome, more: Outcome): void {
  total.passed += more.passed;
  total.failed += more.failed;
  total.reports.push(...more.reports);
}
