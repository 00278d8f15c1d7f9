import assert from "node:assert/strict";
import { readDiff } from "./changed_lines.ts";
import { executedLines } from "./coverage.ts";
import { findExplanation, unusedExplanations } from "./explained.ts";
import { applyMutant, mutantsOf } from "./mutants.ts";
import { describe, isSurvivor, scoreTable } from "./report.ts";
import type { Tried } from "./try_mutant.ts";

const SOURCE = "const a = b < c;\n\nconst d = e && f;\n";
const [comparison, logic] = mutantsOf("src/x/a.ts", SOURCE);
const TRIED: Tried[] = [
  { mutant: comparison!, state: "survived" },
  { mutant: logic!, state: "killed", killedBy: "src/x/a_test.ts" },
];

Deno.test("a survivor is shown with its place, the change and its line", () => {
  assert.equal(describe(TRIED[0]!), "src/x/a.ts:1: < → <=\n    const a = b < c;");
  assert.match(
    describe({ mutant: logic!, state: "not reached" }),
    /^src\/x\/a.ts:3: .*not reached/,
  );
});

Deno.test("an explained mutant counts apart, wherever its line has moved", () => {
  assert.match(scoreTable(TRIED, []), /\| src\/x \| 2 \| 1 \| 0 \| 1 \| 50\.0 % \|/);
  const [moved] = mutantsOf("src/x/a.ts", `// New.\n${SOURCE}`);
  const explanation = {
    path: "src/x/a.ts",
    line: "const a = b < c;",
    change: "< → <=",
    reason: "they are never equal",
  };
  assert.equal(findExplanation([explanation], moved!), explanation);
  assert.equal(findExplanation([{ ...explanation, change: "< → >" }], moved!), undefined);
  const { change: _, ...wholeLine } = explanation;
  assert.equal(findExplanation([wholeLine], moved!), wholeLine);
  assert.match(scoreTable(TRIED, [explanation]), /\| src\/x \| 2 \| 1 \| 1 \| 0 \| 100\.0 % \|/);
  assert.deepEqual(TRIED.map((one) => isSurvivor(one, [explanation])), [false, false]);
  assert.deepEqual(TRIED.map((one) => isSurvivor(one, [])), [true, false]);
});

Deno.test("an explanation that no living mutant needs is found, in the files that were mutated", () => {
  const explain = (path: string, line: string) => ({ path, line, reason: "" });
  const [used, unused, elsewhere] = [
    explain("src/x/a.ts", "const a = b < c;"),
    explain("src/x/a.ts", "const gone = 1;"),
    explain("src/y/b.ts", "const gone = 1;"),
  ];
  const paths = new Set(["src/x/a.ts"]);
  assert.deepEqual(unusedExplanations([used, unused, elsewhere], [comparison!], paths), [unused]);
});

Deno.test("applying a mutant changes nothing else", () => {
  assert.equal(applyMutant(SOURCE, logic!), SOURCE.replace("&&", "||"));
});

Deno.test("executed lines are read from a report of lcov, changed lines from a diff of git", () => {
  const counts = ["DA:1,3", "DA:2,0", "DA:3,0", "DA:6,0", "BRDA:6,1,0,0", "BRDA:6,1,1,4", "DA:9,0"];
  const report = `SF:/tmp/p/src/a.ts\n${counts.join("\n")}\nend_of_record\n` +
    "SF:/tmp/p/src/b.ts\nDA:4,0\nend_of_record\n";
  assert.deepEqual(executedLines(report, "/tmp/p"), { "src/a.ts": [1, 2, 6, 9], "src/b.ts": [] });
  const diff =
    "--- src/a.ts\n+++ src/a.ts\n@@ -3 +3,2 @@ f\n-x\n+y\n+z\n@@ -9,2 +10,0 @@\n-u\n-v\n" +
    "--- src/b.ts\n+++ src/b.ts\n@@ -0,0 +1 @@\n+w\n";
  assert.deepEqual(
    readDiff(diff),
    new Map([["src/a.ts", new Set([3, 4])], ["src/b.ts", new Set([1])]]),
  );
});
