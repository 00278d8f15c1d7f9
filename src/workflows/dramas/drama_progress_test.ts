import assert from "node:assert/strict";
import type { DramaJob, Script } from "./drama.ts";
import type { TaskOutput } from "../tasks/task.ts";
import type { SubtaskRow } from "./subtasks.ts";
import { dramaProgress } from "./drama_progress.ts";

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
  pipeline: {
    script: { model: "chat", prompt: "", schema: null, maxOutputTokens: 100 },
    roles: { offered: true, model: "chat", prompt: "", schema: null, maxOutputTokens: 100 },
    storyboard: { offered: true, model: "image", prompt: "", size: null },
    video: {
      offered: true,
      model: "video",
      prompt: "",
      duration: 5,
      speech: { offered: true, model: "speech", voices: ["alma"], charactersMax: 100 },
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
  subtask: string,
  status: SubtaskRow["status"],
  more: Partial<SubtaskRow> = {},
): SubtaskRow => ({
  id: `task_${ids++}`,
  subtask,
  attempt: 1,
  model: "m",
  status,
  progress: status === "succeeded" ? 100 : 0,
  outputs: status === "succeeded" ? [outputOf(subtask)] : [],
  usage: status === "succeeded" ? { calls: 1 } : null,
  upstream: null,
  cost: null,
  error_code: null,
  error_message: null,
  ...more,
});

function outputOf(subtask: string): TaskOutput {
  if (subtask === "script") return { index: 0, type: "script", content: SCRIPT };
  if (subtask === "roles") return { index: 0, type: "roles", content: { characters: [] } };
  return { index: 0, type: "image", file_id: `file_${subtask}`, mime_type: "x/y", bytes: 1 };
}

const TEXTS = [row("script", "succeeded"), row("roles", "succeeded")];
const ready = (rows: readonly SubtaskRow[], job = JOB) =>
  dramaProgress(job, rows).ready.map(({ subtask, attempt }) => `${subtask}#${attempt}`);

Deno.test("a stage starts when the stages before it are done", () => {
  assert.deepEqual(ready([]), ["script#1"]);
  assert.deepEqual(ready([row("script", "running")]), []);
  assert.deepEqual(ready([row("script", "succeeded")]), ["roles#1"]);
  const shots = ["storyboard/1#1", "storyboard/2#1", "storyboard/3#1"];
  assert.deepEqual(ready(TEXTS), shots);
  const two = [...TEXTS, row("storyboard/1", "succeeded"), row("storyboard/3", "succeeded")];
  assert.deepEqual(ready(two), ["storyboard/2#1"]);
});

Deno.test("videos follow images, and shots with dialogue get spoken lines", () => {
  const rows = [...TEXTS, ...[1, 2, 3].map((n) => row(`storyboard/${n}`, "succeeded"))];
  assert.deepEqual(ready(rows), ["video/1#1", "video/2#1", "speech/2#1", "video/3#1"]);
  const { stage, stages, isComplete } = dramaProgress(JOB, rows);
  assert.equal(stage, "video");
  assert.equal(isComplete, false);
  assert.deepEqual(stages.map(({ status }) => status), [
    ...["succeeded", "succeeded", "succeeded", "running"],
  ]);
});

Deno.test("a failed shot is tried again, then the drama fails and keeps its results so far", () => {
  const once = [...TEXTS, row("storyboard/1", "succeeded"), row("storyboard/2", "failed")];
  assert.deepEqual(ready(once), ["storyboard/2#2", "storyboard/3#1"]);
  const twice = [...once, row("storyboard/2", "failed", { attempt: 2, error_message: "No." })];
  const progress = dramaProgress(JOB, twice);
  assert.deepEqual(progress.ready, []);
  assert.equal(progress.failure?.message, "Shot 2 failed (storyboard): No.");
  assert.equal(progress.stages[2]!.status, "failed");
  assert.equal(progress.stages[2]!.outputs.length, 1);
  assert.deepEqual(progress.paid.map(({ stage, shot }) => [stage, shot]), [
    ["script", null],
    ["roles", null],
    ["storyboard", 1],
  ]);
});

Deno.test("a text is requested again where its model answered badly, and not where its upstream failed", () => {
  const usage = { input_tokens: 3 };
  const bad = row("script", "failed", { usage });
  assert.deepEqual(ready([bad]), ["script#2"]);
  assert.deepEqual(ready([bad, row("script", "failed", { usage, attempt: 2 })]), []);
  const failed = dramaProgress(JOB, [row("script", "failed", { usage: null })]);
  assert.deepEqual(failed.ready, []);
  assert.match(failed.failure!.message, /^The script stage failed/);
});

Deno.test("attempts without a result that upstreams charge for are not paid, and are listed as such", () => {
  const usage = { seconds: 1 };
  const rows = [
    row("script", "failed", { usage }),
    row("script", "succeeded", { attempt: 2, usage }),
    row("video/2", "cancelled", { usage, upstream: "house/one", cost: "0.5" }),
    row("speech/3", "failed", { usage }),
    row("video/3", "failed", { usage: null }),
  ];
  const { paid, unpaid } = dramaProgress(JOB, rows);
  assert.deepEqual(paid.map(({ stage }) => stage), ["script"]);
  assert.deepEqual(unpaid.map(({ stage, shot, cost }) => [stage, shot, cost]), [
    ["script", null, rows[0]!.cost],
    ["video", 2, "0.5"],
    ["video", 3, rows[3]!.cost],
  ]);
});

Deno.test("results of an earlier task are neither made nor paid for again", () => {
  const job = { ...JOB, until: "roles" as const, given: { script: SCRIPT } };
  assert.deepEqual(ready([], job), ["roles#1"]);
  const progress = dramaProgress(job, [row("roles", "succeeded")]);
  assert.equal(progress.isComplete, true);
  assert.deepEqual(progress.paid.map(({ stage }) => stage), ["roles"]);
});

Deno.test("progress only grows as subtasks end, whatever their order", () => {
  const subtasks = ["script", "roles", ...[1, 2, 3].map((n) => `storyboard/${n}`)];
  const rows: SubtaskRow[] = [];
  let before = -1;
  for (const subtask of subtasks) {
    rows.push(row(subtask, "succeeded"));
    const { progress } = dramaProgress(JOB, rows);
    assert.ok(progress > before, subtask);
    before = progress;
  }
});
