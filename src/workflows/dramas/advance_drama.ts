import type { Model } from "../../platform/config/config.ts";
import { priceFrom } from "../../domain/pricing/snapshot.ts";
import type { NextStep } from "../../platform/queue/queue.ts";
import type { TaskDeps } from "../tasks/deps.ts";
import { finishTask } from "../tasks/finish_task.ts";
import { recordOutput } from "../tasks/lease.ts";
import { outputOf } from "../tasks/copy_outputs.ts";
import { configForTask, modelGone } from "../tasks/upstream_assignment.ts";
import { cancelSubtasks } from "../tasks/subtasks.ts";
import type { ClaimedTask, EndStatus, StoredOutput, TaskOutput } from "../tasks/task.ts";
import type { DramaJob } from "./drama.ts";
import { joinInWorker } from "./join_in_worker.ts";
import { CannotJoin } from "./open_shot.ts";
import { createSubtasks, type NewSubtask, readSubtasks } from "./subtasks.ts";
import { chargeDrama } from "./price_drama.ts";
import {
  imageJob,
  lineJob,
  type ShotContext,
  type StageAbility,
  textPrompt,
  videoJob,
} from "./shots.ts";
import { type DramaProgress, dramaProgress, type WantedSubtask } from "./drama_progress.ts";
import { stageSchema } from "./texts.ts";
import type { TextJob } from "./write_text.ts";

const CLIP_BYTES_MAX = 512 * 1024 * 1024;

/**
 * One step of a drama: looks at its parts, makes those that can be made now, and waits; or ends it. The
 * parts are tasks of their own, so that a crash, a deploy or a failing upstream repeats only what is missing.
 */
export async function advanceDrama(
  deps: TaskDeps,
  task: ClaimedTask,
  signal: AbortSignal,
): Promise<NextStep> {
  const job = task.job as DramaJob;
  const progress = dramaProgress(job, await readSubtasks(deps.database.sql, task.id));
  if (task.cancel_requested_at !== null && !progress.isComplete) {
    if (progress.living === 0) return await end(deps, task, job, progress, { status: "cancelled" });
    await cancelSubtasks(deps, task.id);
    return await wait(deps, task, progress, []);
  }
  if (progress.isComplete) return await conclude(deps, task, job, progress, signal);
  if (progress.failure !== null && progress.living === 0) {
    return await end(deps, task, job, progress, { status: "failed", error: progress.failure });
  }
  const room = job.chain.shotsAtOnce - progress.living;
  const parts: NewSubtask[] = [];
  for (const wanted of progress.open.slice(0, Math.max(0, room))) {
    const id = modelOf(job, wanted);
    const model = (await configForTask(deps, task.config_version, id)).models.get(id);
    const part = model === undefined ? null : newPart(model, job, progress, wanted);
    // A model of the chain is gone: what is there is kept, and paid for.
    if (part === null) {
      if (progress.living > 0) return await wait(deps, task, progress, []);
      const { code, message } = modelGone();
      return await end(deps, task, job, progress, { status: "failed", error: { code, message } });
    }
    parts.push(part);
  }
  return await wait(deps, task, progress, parts);
}

async function wait(
  deps: TaskDeps,
  task: ClaimedTask,
  { stage, stages, progress }: DramaProgress,
  parts: readonly NewSubtask[],
): Promise<NextStep> {
  const config = await deps.plan(task.config_version);
  const next = await createSubtasks(
    deps,
    task,
    parts,
    { stage, stages, progress },
    (model) => config.models.get(model)?.deadlineSeconds ?? 1800,
  );
  deps.watch.changed(task.id);
  return next;
}

/** The model that makes a part. */
function modelOf({ chain }: DramaJob, { subtask, stage }: WantedSubtask): string {
  const { script, roles, storyboard, video } = chain;
  if (stage === "script") return script.model;
  if (stage === "roles") return roles!.model;
  if (subtask.startsWith("speech/")) return video!.speech!.model;
  return stage === "storyboard" ? storyboard!.model : video!.model;
}

function newPart(
  model: Model,
  job: DramaJob,
  progress: DramaProgress,
  { subtask, stage, shot, attempt }: WantedSubtask & { attempt: number },
): NewSubtask {
  const { id, type } = model;
  const { script, roles } = job.chain;
  if (stage === "script" || stage === "roles") {
    const text = stage === "script" ? script : roles!;
    const written: TextJob = {
      stage,
      prompt: textPrompt(job, text.prompt, progress.script),
      schema: stageSchema(job, stage),
      max_output_tokens: text.maxOutputTokens,
      tries: job.chain.tries,
      characters: job.characters,
    };
    return { subtask, attempt, type: "chat", model: id, job: written };
  }
  const context: ShotContext = {
    job,
    script: progress.script!,
    roles: progress.roles!,
    shot: shot!,
  };
  if (subtask.startsWith("speech/")) {
    return { subtask, attempt, type, model: id, job: lineJob(context)! };
  }
  const ability = abilityOf(model);
  const picture = progress.pictures.get(shot!)?.file_id ?? null;
  const made = stage === "storyboard"
    ? imageJob(context, ability)
    : videoJob(context, picture, ability);
  return { subtask, attempt, type, model: id, job: made };
}

function abilityOf(model: Model): StageAbility {
  const { max_prompt_length, max_input_images } = model.limits;
  const takesPictures = model.capabilities.has(`image_to_${model.type}`);
  return {
    promptMax: typeof max_prompt_length === "number" ? max_prompt_length : 32_000,
    picturesMax: takesPictures ? Number(max_input_images ?? 1) : 0,
  };
}

/** Everything is there: the last stage's results are the task's, and shots become one video. */
async function conclude(
  deps: TaskDeps,
  task: ClaimedTask,
  job: DramaJob,
  progress: DramaProgress,
  signal: AbortSignal,
): Promise<NextStep> {
  if (job.until !== "video") {
    const outputs = progress.stages.at(-1)!.outputs.map((output, index) => ({ ...output, index }));
    return await end(deps, task, job, progress, { status: "succeeded", outputs });
  }
  let final = task.outputs[0] as StoredOutput | undefined;
  if (final === undefined) {
    try {
      final = await join(deps, task, progress, signal);
    } catch (error) {
      if (!(error instanceof CannotJoin)) throw error;
      deps.log("warn", "shots cannot be joined", { task_id: task.id, error });
      const message = "The shots cannot be joined to one video; each is listed by itself.";
      const failed = { ...progress, made: { ...progress.made, episodes: 0 as const } };
      return await end(deps, task, job, failed, {
        status: "failed",
        error: { code: "upstream_failed", message },
      });
    }
  }
  return await end(deps, task, job, progress, { status: "succeeded", outputs: [final] });
}

async function join(
  deps: TaskDeps,
  task: ClaimedTask,
  { clips, lines, script }: DramaProgress,
  signal: AbortSignal,
): Promise<StoredOutput> {
  const open = async (output: StoredOutput | undefined) => {
    if (output === undefined) return null;
    const { bytes } = await deps.files.openInput(task.account_id, output.file_id, CLIP_BYTES_MAX);
    return bytes;
  };
  const shots = [];
  for (const shot of script!.scenes.keys()) {
    shots.push({
      video: (await open(clips.get(shot + 1)))!,
      line: await open(lines.get(shot + 1)),
    });
  }
  signal.throwIfAborted();
  const { bytes } = await joinInWorker(shots, signal);
  const file = await deps.files.storeOutput(task.account_id, {
    taskId: task.id,
    body: bytes,
    kind: "video",
    name: task.id,
  });
  const output = outputOf(0, file);
  await recordOutput(deps.database.sql, task, output);
  return output;
}

/** Ends a drama, whichever way: what was made for it is listed and paid for, the rest goes back. */
async function end(
  deps: TaskDeps,
  task: ClaimedTask,
  job: DramaJob,
  progress: DramaProgress,
  ending: {
    status: EndStatus;
    outputs?: readonly TaskOutput[];
    error?: { code: string; message: string };
  },
): Promise<NextStep> {
  const { paid, made } = progress;
  const { service: { currencyScale: scale } } = await deps.plan(task.config_version);
  await finishTask(deps, task, {
    ...ending,
    charge: paid.length === 0 ? null : chargeDrama(job, priceFrom(task.price!), paid, made, scale),
    units: made.shots,
    stage: progress.stage,
    stages: progress.stages,
  });
  return "done";
}
