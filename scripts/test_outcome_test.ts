import assert from "node:assert/strict";
import { filesToRepeat, readOutcome } from "./test_outcome.ts";

const FAILED = `
./test/journeys/a_test.ts => one more ... FAILED (2s)
./test/browser/c_test.ts => every page ... FAILED (7s)
./test/journeys/a_test.ts => another ... FAILED (1s)
./test/journeys/d_test.ts => a good one ... ok (1s)
 ERRORS 

one more => ./test/journeys/a_test.ts:9:8
error: AssertionError: 1 !== 2

./test/nodes/b_test.ts (uncaught error)
error: TypeError: x is not a function

 FAILURES 

one more => ./test/journeys/a_test.ts:9:8
another => ./test/journeys/a_test.ts:20:6
every page => ./test/helpers/chromium.ts:88:8
./test/nodes/b_test.ts (uncaught error)

FAILED | 2103 passed (274 steps) | 4 failed | 17 ignored (13m32s)
`;

Deno.test("the outcome of a failed run names each file that failed once, with the report", () => {
  const outcome = readOutcome(`ok\n\x1b[31m${FAILED}`, false);
  assert.deepEqual([outcome.passed, outcome.failed], [2103, 4]);
  assert.deepEqual(outcome.files, [
    "test/journeys/a_test.ts",
    "test/browser/c_test.ts",
    "test/nodes/b_test.ts",
  ]);
  assert.match(outcome.reports.join(), /1 !== 2/);
});

Deno.test("a run that ends without a summary has failed", () => {
  const outcome = readOutcome("error: Module not found", false);
  assert.deepEqual([outcome.passed, outcome.failed, outcome.files], [0, 1, []]);
  assert.match(outcome.reports.join(), /Module not found/);
});

Deno.test("a run that passed has nothing to repeat", () => {
  const outcome = readOutcome("ok | 3 passed | 0 failed (1s)", true);
  assert.deepEqual([outcome.passed, outcome.failed, outcome.reports, outcome.files], [
    3,
    0,
    [],
    [],
  ]);
});

Deno.test("a few files that failed run again; many, or one about money, do not", () => {
  assert.deepEqual(filesToRepeat(["test/faults/a_test.ts"]), ["test/faults/a_test.ts"]);
  assert.deepEqual(filesToRepeat([]), []);
  assert.deepEqual(filesToRepeat(["test/faults/a_test.ts", "test/ledger/races_test.ts"]), []);
  assert.deepEqual(filesToRepeat(["src/domain/ledger/x_test.ts"]), []);
  assert.deepEqual(filesToRepeat([".cache/tests/test.ledger.1.ts"]), []);
  const many = Array.from({ length: 6 }, (_, n) => `test/journeys/${n}_test.ts`);
  assert.deepEqual(filesToRepeat(many), []);
});
