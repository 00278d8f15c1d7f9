import assert from "node:assert/strict";
import { mutantsOf } from "./mutants.ts";
import type { Sandbox, TestResult, TestRun } from "./sandbox.ts";
import { openStore } from "./store.ts";
import { type MeasuredTest, TestRank, tryMutant } from "./try_mutant.ts";

const SOURCE = "export const isLess = a < b;\n";
const [MUTANT] = mutantsOf("a.ts", SOURCE);

const measured = (path: string, seconds: number, line = 1): MeasuredTest => ({
  path,
  hash: `hash of ${path}`,
  imports: new Set(["a.ts"]),
  reach: { seconds, passes: true, lines: { "a.ts": [line] } },
});

interface Trials extends AsyncDisposable {
  runs: string[];
  try(tests: MeasuredTest[], secondsMax?: number): ReturnType<typeof tryMutant>;
}

/** A sandbox in which `outcomes` says what becomes of each test. */
async function openTrials(outcomes: Record<string, TestResult["outcome"]>): Promise<Trials> {
  const root = await Deno.makeTempDir();
  await Deno.writeTextFile(`${root}/a.ts`, SOURCE);
  const store = await openStore(`${root}/store`);
  const runs: string[] = [];
  const sandbox: Pick<Sandbox, "root" | "test"> = {
    root,
    test({ file, changed }: TestRun) {
      assert.deepEqual(changed, { path: "a.ts", text: SOURCE.replace("<", "<=") });
      runs.push(file);
      return Promise.resolve({ outcome: outcomes[file] ?? "passed", seconds: 1, output: "" });
    },
  };
  return {
    runs,
    try: (tests, secondsMax = 60) =>
      tryMutant(sandbox as Sandbox, MUTANT!, { tests, store, rank: new TestRank(), secondsMax }),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

Deno.test("the tests that reach the line run, the fastest first, until one fails", async () => {
  await using trials = await openTrials({ b: "failed", c: "failed" });
  const tests = [
    measured("c", 9),
    measured("elsewhere", 0.1, 2),
    measured("b", 3),
    measured("a", 1),
  ];
  const { state, killedBy } = await trials.try(tests);
  assert.deepEqual([state, killedBy], ["killed", "b"]);
  assert.deepEqual(trials.runs, ["a", "b"]);
});

Deno.test("a test that does not end kills; a line that no test reaches is told apart", async () => {
  await using trials = await openTrials({ a: "timeout" });
  assert.equal((await trials.try([measured("a", 1)])).state, "killed");
  assert.equal((await trials.try([measured("a", 1, 2)])).state, "not reached");
});

Deno.test("tests beyond the time for one mutant are left out, and that is said", async () => {
  await using trials = await openTrials({});
  assert.equal((await trials.try([measured("a", 5), measured("b", 9)], 10)).state, "partly");
  assert.deepEqual(trials.runs, ["a"]);
  assert.equal((await trials.try([measured("a", 5), measured("b", 9)], 20)).state, "survived");
  assert.deepEqual(trials.runs, ["a", "b"], "what is known does not run again");
});

Deno.test("tests that killed mutants of a file before come first", () => {
  const rank = new TestRank();
  const tests = [measured("quick", 1), measured("apt", 2)];
  const order = () => rank.sort("a.ts", tests).map(({ path }) => path);
  assert.deepEqual(order(), ["quick", "apt"]);
  for (let n = 0; n < 5; n++) {
    rank.note("a.ts", "quick", false);
    rank.note("a.ts", "apt", true);
  }
  assert.deepEqual(order(), ["apt", "quick"]);
});

Deno.test("what one run has found, a later one finds again", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const reach = { seconds: 1, passes: true, lines: { "a.ts": [1] } };
    const first = await openStore(folder);
    await first.keepOutcome("mutant", "test", "failed");
    await first.keepReach("test", reach);
    const later = await openStore(folder);
    assert.equal(later.outcomeOf("mutant", "test"), "failed");
    assert.equal(later.outcomeOf("mutant", "other"), null);
    assert.deepEqual(await later.reachOf("test"), reach);
    assert.equal(await later.reachOf("other"), null);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
