import assert from "node:assert/strict";
import fc from "fast-check";
import { fraction } from "../../lib/money.ts";
import type { DramaJob, Script } from "./drama.ts";
import type { SubtaskRow } from "./subtasks.ts";
import { apportion } from "./price_drama.ts";
import { dramaProgress } from "./drama_progress.ts";
import { completeRoles, readAnswer, ROLES_SCHEMA, scriptSchema, withOwn } from "./texts.ts";

const SCRIPT: Script = {
  synopsis: "A tide.",
  scenes: [1, 2, 3].map((n) => ({
    heading: `Beach ${n}`,
    action: "Mara waits.",
    dialogue: n === 2 ? [{ character: "Mara", line: "Now." }] : [],
  })),
};

const JOB: DramaJob = {
  title: "Tides",
  script: "A story.",
  episode: 1,
  aspect_ratio: "9:16",
  characters: [{ name: "Mara" }],
  until: "video",
  shots_max: 3,
  chain: {
    script: { model: "talk", prompt: "", schema: null, maxOutputTokens: 100 },
    roles: { model: "talk", prompt: "", schema: null, maxOutputTokens: 100 },
    storyboard: { model: "draw", prompt: "", size: null },
    video: {
      model: "film",
      prompt: "",
      duration: 5,
      speech: { model: "say", voices: ["alma"], charactersMax: 100 },
    },
    shotsMin: 1,
    tries: 2,
    shotsAtOnce: 2,
  },
  prices: {},
  given: {},
};

let ids = 0;
const row = (
  part: string,
  status: SubtaskRow["status"],
  more: Partial<SubtaskRow> = {},
): SubtaskRow => ({
  id: `task_${ids++}`,
  subtask: part,
  attempt: 1,
  model: "m",
  status,
  progress: status === "succeeded" ? 100 : 0,
  outputs: status === "succeeded" ? [outputOf(part)] : [],
  usage: status === "succeeded" ? { calls: 1 } : null,
  error_code: null,
  error_message: null,
  ...more,
});

function outputOf(part: string): unknown {
  if (part === "script") return { type: "script", content: SCRIPT };
  if (part === "roles") return { type: "roles", content: { characters: [] } };
  return { index: 0, type: "image", file_id: `file_${part}`, mime_type: "x/y", bytes: 1 };
}

const TEXTS = [row("script", "succeeded"), row("roles", "succeeded")];
const openParts = (rows: readonly SubtaskRow[], job = JOB) =>
  dramaProgress(job, rows).open.map(({ subtask, attempt }) => `${subtask}#${attempt}`);

Deno.test("a stage begins when everything before it is there", () => {
  assert.deepEqual(openParts([]), ["script#1"]);
  assert.deepEqual(openParts([row("script", "running")]), []);
  assert.deepEqual(openParts([row("script", "succeeded")]), ["roles#1"]);
  const shots = ["storyboard/1#1", "storyboard/2#1", "storyboard/3#1"];
  assert.deepEqual(openParts(TEXTS), shots);
  const two = [...TEXTS, row("storyboard/1", "succeeded"), row("storyboard/3", "succeeded")];
  assert.deepEqual(openParts(two), ["storyboard/2#1"]);
});

Deno.test("clips follow pictures, and lines are spoken where there are any", () => {
  const rows = [...TEXTS, ...[1, 2, 3].map((n) => row(`storyboard/${n}`, "succeeded"))];
  assert.deepEqual(openParts(rows), ["video/1#1", "video/2#1", "speech/2#1", "video/3#1"]);
  const { stage, stages, isComplete } = dramaProgress(JOB, rows);
  assert.equal(stage, "video");
  assert.equal(isComplete, false);
  assert.deepEqual(stages.map(({ status }) => status), [
    ...["succeeded", "succeeded", "succeeded", "running"],
  ]);
});

Deno.test("a failed shot is tried again, then the drama fails with what is there", () => {
  const once = [...TEXTS, row("storyboard/1", "succeeded"), row("storyboard/2", "failed")];
  assert.deepEqual(openParts(once), ["storyboard/2#2", "storyboard/3#1"]);
  const twice = [...once, row("storyboard/2", "failed", { attempt: 2, error_message: "No." })];
  const progress = dramaProgress(JOB, twice);
  assert.deepEqual(progress.open, []);
  assert.equal(progress.failure?.message, "Shot 2 failed (storyboard): No.");
  assert.equal(progress.stages[2]!.status, "failed");
  assert.equal(progress.stages[2]!.outputs.length, 1);
  assert.deepEqual(progress.paid.map(({ stage, shot }) => [stage, shot]), [
    ["script", null],
    ["roles", null],
    ["storyboard", 1],
  ]);
});

Deno.test("what an earlier task gave is neither made nor paid for", () => {
  const job = { ...JOB, until: "roles" as const, given: { script: SCRIPT } };
  assert.deepEqual(openParts([], job), ["roles#1"]);
  const progress = dramaProgress(job, [row("roles", "succeeded")]);
  assert.equal(progress.isComplete, true);
  assert.deepEqual(progress.paid.map(({ stage }) => stage), ["roles"]);
});

Deno.test("progress only grows as parts end, whatever their order", () => {
  const parts = ["script", "roles", ...[1, 2, 3].map((n) => `storyboard/${n}`)];
  const rows: SubtaskRow[] = [];
  let before = -1;
  for (const part of parts) {
    rows.push(row(part, "succeeded"));
    const { progress } = dramaProgress(JOB, rows);
    assert.ok(progress > before, part);
    before = progress;
  }
});

Deno.test("shares of a sum add up to the last digit", () => {
  const amount = fc.tuple(fc.nat(10_000_000), fc.integer({ min: 0, max: 12 })).map(([n, places]) =>
    fraction(`0.${String(n).padStart(places, "0").slice(0, 12).padEnd(1, "0")}`)
  );
  fc.assert(fc.property(
    fc.array(amount, { minLength: 1, maxLength: 40 }),
    fc.integer({ min: 0, max: 6 }),
    (amounts, scale) => {
      const sum = amounts.reduce((a, b) => ({
        num: a.num * b.den + b.num * a.den,
        den: a.den * b.den,
      }));
      const shares = apportion(amounts, sum, scale);
      const unit = 10n ** BigInt(12 - scale);
      const rounded = (2n * sum.num * 10n ** BigInt(scale) + sum.den) / (2n * sum.den) * unit;
      assert.equal(shares.reduce((a, b) => a + b, 0n), rounded);
      for (const [at, { num, den }] of amounts.entries()) {
        const exact = num * 10n ** 12n / den;
        const off = shares[at]! - exact;
        assert.ok(off < unit && off > -unit - 1n);
      }
    },
  ));
});

Deno.test("an answer is taken out of its fence, and refused when it is not what was asked", () => {
  const schema = scriptSchema(1, 3);
  const text = "Here you are:\n```json\n" + JSON.stringify(SCRIPT) + "\n```";
  assert.deepEqual(readAnswer(text, schema), SCRIPT);
  assert.equal(readAnswer("{not json}", schema), null);
  assert.equal(readAnswer("Sorry.", schema), null);
  const four = { ...SCRIPT, scenes: [...SCRIPT.scenes, SCRIPT.scenes[0]] };
  assert.equal(readAnswer(JSON.stringify(four), schema), null);
});

Deno.test("an operator may ask for fields of their own", () => {
  const own = { type: "object", required: ["genre"], properties: { genre: { type: "string" } } };
  const schema = withOwn(ROLES_SCHEMA, own);
  assert.equal(readAnswer('{"characters":[]}', schema), null);
  assert.deepEqual(readAnswer('{"characters":[],"genre":"noir"}', schema), {
    characters: [],
    genre: "noir",
  });
});

Deno.test("every character of the request has one role", () => {
  const roles = {
    characters: [{ name: "MARA ", looks: "tall" }, { name: "mara", looks: "short" }],
  };
  assert.deepEqual(completeRoles(roles, [{ name: "Mara" }, { name: "Jon" }]).characters, [
    { name: "MARA ", looks: "tall" },
    { name: "Jon", looks: "" },
  ]);
});
