import type { Usage } from "../../domain/pricing/usage.ts";
import { isOver, type StoredOutput } from "../tasks/task.ts";
import {
  type DramaJob,
  type DramaStage,
  type Roles,
  type Script,
  type StageOutput,
  type StageStatus,
  stagesUntil,
} from "./drama.ts";
import type { SubtaskRow } from "./subtasks.ts";
import type { Made, PricedPart } from "./price_drama.ts";

/** A part that is wanted: what it is called, and which stage and shot it serves. */
export interface WantedSubtask {
  readonly subtask: string;
  readonly stage: DramaStage;
  readonly shot: number | null;
}

/** How a drama stands, from what was asked and what its parts have given. */
export interface DramaProgress {
  readonly stages: readonly StageStatus[];
  /** The stage at work; the last one when all is there. */
  readonly stage: DramaStage;
  readonly progress: number;
  readonly script: Script | null;
  readonly roles: Roles | null;
  readonly pictures: ReadonlyMap<number, StoredOutput>;
  readonly clips: ReadonlyMap<number, StoredOutput>;
  readonly lines: ReadonlyMap<number, StoredOutput>;
  /** What can be made now and nobody is making, with the number of the attempt. */
  readonly open: readonly (WantedSubtask & { readonly attempt: number })[];
  readonly living: number;
  /** Why it cannot be finished; null while it can. */
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly isComplete: boolean;
  /** Made for this drama, and therefore paid for with it. */
  readonly paid: readonly PricedPart[];
  readonly made: Made;
}

const WEIGHTS: Readonly<Record<DramaStage, number>> = {
  script: 5,
  roles: 5,
  storyboard: 25,
  video: 65,
};

interface PartState {
  status: "open" | "living" | "done" | "failed";
  progress: number;
  attempt: number;
  output: unknown;
  error: { code: string; message: string } | null;
  paid: { model: string; usage: Usage } | null;
}

/** Pure: the same rows give the same survey, whoever looks and whenever. */
export function dramaProgress(job: DramaJob, rows: readonly SubtaskRow[]): DramaProgress {
  const states = new Map<string, PartState>();
  const stateOf = (part: string): PartState => {
    const known = states.get(part) ?? stateOfPart(job, part, rows);
    states.set(part, known);
    return known;
  };
  const script = outputOf<Script>(stateOf("script"));
  const wanted = stagesUntil(job.until).map((stage) => wantedOf(job, stage, script, stateOf));
  const current = wanted.findIndex((parts) => parts === null || !parts.every(isDone(stateOf)));
  const isComplete = current < 0;
  const stage = stagesUntil(job.until)[isComplete ? wanted.length - 1 : current]!;
  const now = isComplete ? [] : wanted[current] ?? [];
  const failed = now.map(({ subtask }) => stateOf(subtask)).find(({ status }) =>
    status === "failed"
  );
  const everything = wanted.flatMap((parts) => parts ?? []);
  const results = <T>(kind: string) => collect<T>(everything, kind, stateOf);
  const pictures = results<StoredOutput>("storyboard");
  const clips = results<StoredOutput>("video");
  const paid = everything.flatMap(({ subtask, stage, shot }) => {
    const own = stateOf(subtask).paid;
    return own === null ? [] : [{ stage, shot, ...own }];
  });
  return {
    stages: stagesUntil(job.until).map((each, at) =>
      stageState(each, wanted[at] ?? null, !isComplete && at === current, stateOf)
    ),
    stage,
    progress: overall(job.until, wanted, stateOf),
    script,
    roles: outputOf<Roles>(stateOf("roles")),
    pictures,
    clips,
    lines: results<StoredOutput>("speech"),
    open: failed !== undefined ? [] : now.flatMap((each) => {
      const { status, attempt } = stateOf(each.subtask);
      return status === "open" ? [{ ...each, attempt }] : [];
    }),
    living: rows.filter(({ status }) => !isOver(status)).length,
    failure: failed?.error ?? null,
    isComplete,
    paid,
    made: {
      shots: paid.filter(({ stage }) => stage === (job.until === "video" ? "video" : "storyboard"))
        .filter((part) => !("characters" in part.usage)).length,
      episodes: isComplete && job.until === "video" ? 1 : 0,
      seconds: job.chain.video === null
        ? 0
        : paid.filter((part) => part.stage === "video" && !("characters" in part.usage)).length *
          job.chain.video.duration,
    },
  };
}

/** The parts of a stage; null while nobody knows how many shots there are. */
function wantedOf(
  job: DramaJob,
  stage: DramaStage,
  script: Script | null,
  stateOf: (part: string) => PartState,
): WantedSubtask[] | null {
  if (stage === "script" || stage === "roles") return [{ subtask: stage, stage, shot: null }];
  if (script === null) return null;
  const shots = script.scenes.map((_, at) => at + 1);
  if (stage === "storyboard") {
    return shots.map((shot) => ({ subtask: `storyboard/${shot}`, stage, shot }));
  }
  const isSpoken = (shot: number) =>
    job.chain.video?.speech !== null &&
    (script.scenes[shot - 1]!.dialogue.some(({ line }) => line.trim() !== "") ||
      stateOf(`speech/${shot}`).status === "done");
  return shots.flatMap((shot) => [
    { subtask: `video/${shot}`, stage, shot },
    ...(isSpoken(shot) ? [{ subtask: `speech/${shot}`, stage, shot }] : []),
  ]);
}

/** What no second attempt would mend: the request itself is at fault. */
const FINAL = new Set(["invalid_value", "prompt_too_long", "capability_not_supported"]);

function stateOfPart(job: DramaJob, part: string, rows: readonly SubtaskRow[]): PartState {
  const given = givenOf(job, part);
  const nothing = { progress: 0, attempt: 1, output: null, error: null, paid: null };
  if (given !== undefined) return { ...nothing, status: "done", progress: 100, output: given };
  const own = rows.filter((row) => row.subtask === part);
  const done = own.find(({ status, outputs }) => status === "succeeded" && outputs.length > 0);
  if (done !== undefined) {
    const { model, usage } = done;
    const paid = usage === null ? null : { model, usage };
    return { ...nothing, status: "done", progress: 100, output: done.outputs[0], paid };
  }
  const living = own.find(({ status }) => !isOver(status));
  if (living !== undefined) {
    return { ...nothing, status: "living", progress: living.progress, attempt: living.attempt };
  }
  const last = own.at(-1);
  const attempt = Math.max(0, ...own.map((row) => row.attempt)) + 1;
  // A text is tried again by its own part.
  const tries = part === "script" || part === "roles" ? 1 : job.chain.tries;
  if (last === undefined || (own.length < tries && !FINAL.has(last.error_code ?? ""))) {
    return { ...nothing, status: "open", attempt };
  }
  const error = {
    code: last.error_code ?? "upstream_failed",
    message: `${nameOf(part)}: ${last.error_message ?? "The model gave no usable result."}`,
  };
  return { ...nothing, status: "failed", error };
}

function nameOf(part: string): string {
  const [stage, shot] = part.split("/");
  return shot === undefined ? `The ${stage} stage failed` : `Shot ${shot} failed (${stage})`;
}

function givenOf({ given }: DramaJob, part: string): unknown {
  const [kind, shot] = part.split("/");
  switch (kind) {
    case "script":
      return given.script && { content: given.script };
    case "roles":
      return given.roles && { content: given.roles };
    case "storyboard":
      return given.pictures?.[Number(shot)];
    case "video":
      return given.clips?.[Number(shot)];
    default:
      return given.lines?.[Number(shot)];
  }
}

function outputOf<T>({ status, output }: PartState): T | null {
  return status === "done" ? (output as { content: T }).content : null;
}

const isDone = (stateOf: (part: string) => PartState) => ({ subtask }: WantedSubtask) =>
  stateOf(subtask).status === "done";

function collect<T>(
  wanted: readonly WantedSubtask[],
  kind: string,
  stateOf: (part: string) => PartState,
): Map<number, T> {
  const found = new Map<number, T>();
  for (const { subtask, shot } of wanted) {
    const state = stateOf(subtask);
    if (subtask.startsWith(`${kind}/`) && state.status === "done") {
      found.set(shot!, state.output as T);
    }
  }
  return found;
}

function stageState(
  stage: DramaStage,
  parts: readonly WantedSubtask[] | null,
  isCurrent: boolean,
  stateOf: (part: string) => PartState,
): StageStatus {
  const states = (parts ?? []).map((each) => ({ ...each, ...stateOf(each.subtask) }));
  const isAll = parts !== null && states.every(({ status }) => status === "done");
  const hasFailed = states.some(({ status }) => status === "failed");
  return {
    stage,
    status: isAll ? "succeeded" : hasFailed ? "failed" : isCurrent ? "running" : "waiting",
    progress: Math.trunc(share(parts, stateOf) * 100),
    outputs: states.filter(({ status }) => status === "done").map((
      { stage, shot, output },
      index,
    ): StageOutput =>
      shot === null
        ? { index, type: stage, content: (output as { content: unknown }).content }
        : { ...output as StoredOutput, index, shot }
    ),
  };
}

/** How much of a stage is there, from 0 to 1. */
function share(
  parts: readonly WantedSubtask[] | null,
  stateOf: (part: string) => PartState,
): number {
  if (parts === null || parts.length === 0) return 0;
  return parts.reduce((sum, { subtask }) => sum + stateOf(subtask).progress, 0) / parts.length /
    100;
}

function overall(
  until: DramaStage,
  wanted: readonly (readonly WantedSubtask[] | null)[],
  stateOf: (part: string) => PartState,
): number {
  const stages = stagesUntil(until);
  const whole = stages.reduce((sum, stage) => sum + WEIGHTS[stage], 0);
  const done = stages.reduce(
    (sum, stage, at) => sum + WEIGHTS[stage] * share(wanted[at]!, stateOf),
    0,
  );
  return 100 * done / whole;
}
