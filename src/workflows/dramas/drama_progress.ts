import { isOver, type StoredOutput, type TaskOutput } from "../tasks/task.ts";
import { type DramaStage, type MadeUnits, stagesUntil } from "../../model_types/drama.ts";
import type { DramaJob, Roles, Script, StageStatus } from "./drama.ts";
import type { PricedSubtask } from "./price_drama.ts";
import { parseRoles, parseScript } from "./stored_drama.ts";
import type { SubtaskRow } from "./subtasks.ts";

/** A subtask that a drama needs, such as `script` or `video/3`, with its stage and shot. */
export interface WantedSubtask {
  readonly subtask: string;
  readonly stage: DramaStage;
  readonly shot: number | null;
}

/** State of a drama, computed from its job and the rows of its subtasks. */
export interface DramaProgress {
  readonly stages: readonly StageStatus[];
  /** The stage that is running; the last one when the drama is complete. */
  readonly stage: DramaStage;
  readonly progress: number;
  readonly script: Script | null;
  readonly roles: Roles | null;
  readonly images: ReadonlyMap<number, StoredOutput>;
  readonly videos: ReadonlyMap<number, StoredOutput>;
  readonly lines: ReadonlyMap<number, StoredOutput>;
  /** Subtasks that can start now, with the number of the attempt. */
  readonly ready: readonly (WantedSubtask & { readonly attempt: number })[];
  /** How many subtasks have not ended. */
  readonly active: number;
  /** Why the drama cannot be finished; null while it can. */
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly isComplete: boolean;
  /** Subtasks that were made for this drama and are charged with it. */
  readonly paid: readonly PricedSubtask[];
  /** Attempts without a result that their upstreams charge for all the same. */
  readonly unpaid: readonly PricedSubtask[];
  readonly made: MadeUnits;
}

/** Share of each stage in the progress of the whole. */
const WEIGHTS: Readonly<Record<DramaStage, number>> = {
  script: 5,
  roles: 5,
  storyboard: 25,
  video: 65,
};

interface SubtaskState {
  status: "ready" | "active" | "done" | "failed";
  progress: number;
  attempt: number;
  output: TaskOutput | null;
  error: { code: string; message: string } | null;
  paid: Pick<PricedSubtask, "model" | "usage" | "upstream" | "cost"> | null;
}

type StateOf = (subtask: string) => SubtaskState;

/** Has no side effects: the same job and rows give the same progress. */
export function dramaProgress(job: DramaJob, rows: readonly SubtaskRow[]): DramaProgress {
  const states = new Map<string, SubtaskState>();
  const stateOf: StateOf = (subtask) => {
    const known = states.get(subtask) ?? stateOfSubtask(job, subtask, rows);
    states.set(subtask, known);
    return known;
  };
  const stageNames = stagesUntil(job.until);
  const scriptContent = contentOf(stateOf("script"));
  const script = scriptContent === undefined ? null : parseScript(scriptContent);
  const rolesContent = contentOf(stateOf("roles"));
  const wanted = stageNames.map((stage) => wantedOf(job, stage, script, stateOf));
  const current = wanted.findIndex((subtasks) => !subtasks?.every(isDone(stateOf)));
  const isComplete = current < 0;
  const now = isComplete ? [] : wanted[current] ?? [];
  const failed = now.map(({ subtask }) => stateOf(subtask))
    .find(({ status }) => status === "failed");
  const everything = wanted.flatMap((subtasks) => subtasks ?? []);
  const paid = everything.flatMap(({ subtask, stage, shot }) => {
    const own = stateOf(subtask).paid;
    return own === null ? [] : [{ stage, shot, ...own }];
  });
  return {
    stages: stageNames.map((stage, at) =>
      stageStatus(stage, wanted[at] ?? null, !isComplete && at === current, stateOf)
    ),
    stage: stageNames[isComplete ? wanted.length - 1 : current]!,
    progress: overallProgress(job.until, wanted, stateOf),
    script,
    roles: rolesContent === undefined ? null : parseRoles(rolesContent),
    images: filesOf(everything, "storyboard", stateOf),
    videos: filesOf(everything, "video", stateOf),
    lines: filesOf(everything, "speech", stateOf),
    ready: failed !== undefined ? [] : now.flatMap((each) => {
      const { status, attempt } = stateOf(each.subtask);
      return status === "ready" ? [{ ...each, attempt }] : [];
    }),
    active: rows.filter(({ status }) => !isOver(status)).length,
    failure: failed?.error ?? null,
    isComplete,
    paid,
    unpaid: rows.flatMap(unpaidAttempt),
    made: madeUnits(job, paid, isComplete),
  };
}

/** Units of the drama's own price. Spoken lines are counted by characters and are no shots. */
function madeUnits(
  { until, pipeline: { video } }: DramaJob,
  paid: readonly PricedSubtask[],
  isComplete: boolean,
): MadeUnits {
  const visual = paid.filter(({ usage }) => !("characters" in usage));
  const countOf = (wanted: DramaStage) => visual.filter(({ stage }) => stage === wanted).length;
  return {
    shots: countOf(until === "video" ? "video" : "storyboard"),
    episodes: isComplete && until === "video" ? 1 : 0,
    seconds: video.offered ? countOf("video") * video.duration : 0,
  };
}

/** The subtasks of a stage; null while the number of shots is unknown. */
function wantedOf(
  { pipeline: { video } }: DramaJob,
  stage: DramaStage,
  script: Script | null,
  stateOf: StateOf,
): WantedSubtask[] | null {
  if (stage === "script" || stage === "roles") return [{ subtask: stage, stage, shot: null }];
  if (script === null) return null;
  const shots = script.scenes.map((_, at) => at + 1);
  if (stage === "storyboard") {
    return shots.map((shot) => ({ subtask: `storyboard/${shot}`, stage, shot }));
  }
  const isSpoken = (shot: number) =>
    video.offered && video.speech.offered &&
    (script.scenes[shot - 1]!.dialogue.some(({ line }) => line.trim() !== "") ||
      stateOf(`speech/${shot}`).status === "done");
  return shots.flatMap((shot) => [
    { subtask: `video/${shot}`, stage, shot },
    ...(isSpoken(shot) ? [{ subtask: `speech/${shot}`, stage, shot }] : []),
  ]);
}

/** Errors that another attempt would repeat: the request itself is invalid. */
const FINAL_CODES = new Set(["invalid_value", "prompt_too_long", "capability_not_supported"]);

function stateOfSubtask(
  job: DramaJob,
  subtask: string,
  rows: readonly SubtaskRow[],
): SubtaskState {
  const given = givenOf(job, subtask);
  const nothing = { progress: 0, attempt: 1, output: null, error: null, paid: null };
  if (given !== undefined) return { ...nothing, status: "done", progress: 100, output: given };
  const own = rows.filter((row) => row.subtask === subtask);
  const done = own.find(({ status, outputs }) => status === "succeeded" && outputs.length > 0);
  if (done !== undefined) {
    const { model, usage, upstream, cost } = done;
    const paid = usage === null ? null : { model, usage, upstream, cost };
    return { ...nothing, status: "done", progress: 100, output: done.outputs[0]!, paid };
  }
  const active = own.find(({ status }) => !isOver(status));
  if (active !== undefined) {
    return { ...nothing, status: "active", progress: active.progress, attempt: active.attempt };
  }
  const last = own.at(-1);
  const attempt = Math.max(0, ...own.map((row) => row.attempt)) + 1;
  if (last === undefined || (own.length < job.pipeline.tries && mayRepeat(last))) {
    return { ...nothing, status: "ready", attempt };
  }
  const error = {
    code: last.error_code ?? "upstream_failed",
    message: `${describe(subtask)}: ${last.error_message ?? "The model gave no usable result."}`,
  };
  return { ...nothing, status: "failed", error };
}

/** A text is requested again by its own subtask where the upstream fails, and by another where it answers badly. */
function mayRepeat({ subtask, usage, error_code }: SubtaskRow): boolean {
  const isText = subtask === "script" || subtask === "roles";
  return isText ? usage !== null : !FINAL_CODES.has(error_code ?? "");
}

function unpaidAttempt(row: SubtaskRow): PricedSubtask[] {
  const { subtask, status, model, usage, upstream, cost } = row;
  if (usage === null || status === "succeeded") return [];
  const [kind, shot] = subtask.split("/");
  const stage = kind === "speech" ? "video" : kind as DramaStage;
  return [{ stage, shot: shot === undefined ? null : Number(shot), model, usage, upstream, cost }];
}

function describe(subtask: string): string {
  const [stage, shot] = subtask.split("/");
  return shot === undefined ? `The ${stage} stage failed` : `Shot ${shot} failed (${stage})`;
}

/** A result of the earlier task; undefined where it has none. */
function givenOf({ given }: DramaJob, subtask: string): TaskOutput | undefined {
  const [kind, shot = ""] = subtask.split("/");
  switch (kind) {
    case "script":
      return given.script && { index: 0, type: kind, content: given.script };
    case "roles":
      return given.roles && { index: 0, type: kind, content: given.roles };
    case "storyboard":
      return given.images?.[shot];
    case "video":
      return given.videos?.[shot];
    default:
      return given.lines?.[shot];
  }
}

function contentOf({ status, output }: SubtaskState): unknown {
  return status === "done" && output !== null && "content" in output ? output.content : undefined;
}

const isDone = (stateOf: StateOf) => ({ subtask }: WantedSubtask) =>
  stateOf(subtask).status === "done";

function filesOf(
  wanted: readonly WantedSubtask[],
  kind: "storyboard" | "video" | "speech",
  stateOf: StateOf,
): Map<number, StoredOutput> {
  const found = new Map<number, StoredOutput>();
  for (const { subtask, shot } of wanted) {
    if (!subtask.startsWith(`${kind}/`)) continue;
    const { status, output } = stateOf(subtask);
    if (status === "done" && output !== null && "file_id" in output) found.set(shot!, output);
  }
  return found;
}

function stageStatus(
  stage: DramaStage,
  subtasks: readonly WantedSubtask[] | null,
  isCurrent: boolean,
  stateOf: StateOf,
): StageStatus {
  const states = (subtasks ?? []).map((each) => ({ ...each, ...stateOf(each.subtask) }));
  const isAll = subtasks !== null && states.every(({ status }) => status === "done");
  const hasFailed = states.some(({ status }) => status === "failed");
  return {
    stage,
    status: isAll ? "succeeded" : hasFailed ? "failed" : isCurrent ? "running" : "waiting",
    progress: Math.trunc(doneShare(subtasks, stateOf) * 100),
    outputs: states.filter(({ status }) => status === "done").map(
      ({ shot, output }, index): TaskOutput =>
        shot === null
          ? { index, type: stage, content: (output as { content: unknown }).content }
          : { ...output as StoredOutput, index, shot },
    ),
  };
}

/** How much of a stage is done, from 0 to 1. */
function doneShare(subtasks: readonly WantedSubtask[] | null, stateOf: StateOf): number {
  if (subtasks === null || subtasks.length === 0) return 0;
  const sum = subtasks.reduce((sum, { subtask }) => sum + stateOf(subtask).progress, 0);
  return sum / subtasks.length / 100;
}

function overallProgress(
  until: DramaStage,
  wanted: readonly (readonly WantedSubtask[] | null)[],
  stateOf: StateOf,
): number {
  const stages = stagesUntil(until);
  const whole = stages.reduce((sum, stage) => sum + WEIGHTS[stage], 0);
  const done = stages.reduce(
    (sum, stage, at) => sum + WEIGHTS[stage] * doneShare(wanted[at]!, stateOf),
    0,
  );
  return 100 * done / whole;
}
