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
import { type DramaJob, requireStage } from "./drama.ts";
import { joinInWorker } from "./join_in_worker.ts";
import { CannotJoin } from "./open_shot.ts";
import { createSubtasks, type NewSubtask, readSubtasks } from "./subtasks.ts";
import { chargeDrama } from "./price_drama.ts";
import {
  imageJob,
  type InputLimits,
  lineJob,
  type ShotContext,
  textPrompt,
  videoJob,
} from "./shots.ts";
import { type DramaProgress, dramaProgress, type WantedSubtask } from "./drama_progress.ts";
import { parseDramaJob } from "./stored_drama.ts";
import { stageSchema } from "./texts.ts";
import type { TextJob } from "./write_text.ts";

const SHOT_BYTES_MAX = 512 * 1024 * 1024;
/** Of a subtask whose model is no longer in the configuration. */
const DEFAULT_DEADLINE_SECONDS = 1_800;

/** One step of a drama, as the functions that run it pass it on. */
interface DramaStep {
  readonly deps: TaskDeps;
  readonly task: ClaimedTask;
  readonly job: DramaJob;
  readonly progress: DramaProgress;
  /** Aborts when the lease is lost or the process stops. */
  readonly signal: AbortSignal;
}

/**
 * One step of a drama: reads the rows of its subtasks, creates those that can start now, and waits; or ends the
 * drama. Subtasks are tasks, so that a crash, a deploy or a failing upstream repeats only what is missing.
 */
export async function advanceDrama(
  deps: TaskDeps,
  task: ClaimedTask,
  signal: AbortSignal,
): Promise<NextStep> {
  const job = parseDramaJob(task.job);
  const progress = dramaProgress(job, await readSubtasks(deps.database.sql, task.id));
  const step: DramaStep = { deps, task, job, progress, signal };
  if (task.cancel_requested_at !== null && !progress.isComplete) {
    if (progress.active === 0) return await end(step, { status: "cancelled" });
    await cancelSubtasks(deps, task.id);
    return await wait(step, []);
  }
  if (progress.isComplete) return await conclude(step);
  if (progress.failure !== null && progress.active === 0) {
    return await end(step, { status: "failed", error: progress.failure });
  }
  const free = job.pipeline.shotsAtOnce - progress.active;
  const subtasks: Omit<NewSubtask, "deadlineSeconds">[] = [];
  for (const wanted of progress.ready.slice(0, Math.max(0, free))) {
    const id = modelOf(job, wanted);
    const model = (await configForTask(deps, task.config_version, id)).models.get(id);
    // The model was removed: results so far are kept and charged.
    if (model === undefined) {
      if (progress.active > 0) return await wait(step, []);
      const { code, message } = modelGone();
      return await end(step, { status: "failed", error: { code, message } });
    }
    subtasks.push(newSubtask(model, job, progress, wanted));
  }
  return await wait(step, subtasks);
}

async function wait(
  { deps, task, progress: { stage, stages, progress } }: DramaStep,
  subtasks: readonly Omit<NewSubtask, "deadlineSeconds">[],
): Promise<NextStep> {
  const { models } = await deps.configOf(task.config_version);
  const withDeadlines = subtasks.map((subtask) => ({
    ...subtask,
    deadlineSeconds: models.get(subtask.model)?.deadlineSeconds ?? DEFAULT_DEADLINE_SECONDS,
  }));
  const next = await createSubtasks(deps, task, withDeadlines, { stage, stages, progress });
  deps.watch.changed(task.id);
  return next;
}

/** The model that makes a subtask. */
function modelOf({ pipeline }: DramaJob, { subtask, stage }: WantedSubtask): string {
  if (stage === "script") return pipeline.script.model;
  if (subtask.startsWith("speech/")) {
    return requireStage(requireStage(pipeline.video, "video").speech, "speech").model;
  }
  return requireStage<{ model: string }>(pipeline[stage], stage).model;
}

function newSubtask(
  model: Model,
  job: DramaJob,
  progress: DramaProgress,
  { subtask, stage, shot, attempt }: WantedSubtask & { attempt: number },
): Omit<NewSubtask, "deadlineSeconds"> {
  const { id, type } = model;
  const { script, roles } = job.pipeline;
  if (stage === "script" || stage === "roles") {
    const text = stage === "script" ? script : requireStage(roles, stage);
    const textJob: TextJob = {
      stage,
      prompt: textPrompt(job, text.prompt, progress.script),
      schema: stageSchema(job, stage),
      max_output_tokens: text.maxOutputTokens,
      tries: Math.max(1, job.pipeline.tries - attempt + 1),
      characters: job.characters,
    };
    return { subtask, attempt, type: "chat", model: id, job: textJob };
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
  const limits = inputLimitsOf(model);
  const image = progress.images.get(shot!)?.file_id ?? null;
  const shotJob = stage === "storyboard"
    ? imageJob(context, limits)
    : videoJob(context, image, limits);
  return { subtask, attempt, type, model: id, job: shotJob };
}

function inputLimitsOf(model: Model): InputLimits {
  const { max_prompt_length, max_input_images } = model.limits;
  const takesImages = model.capabilities.has(`image_to_${model.type}`);
  return {
    promptMax: typeof max_prompt_length === "number" ? max_prompt_length : 32_000,
    imagesMax: takesImages ? Number(max_input_images ?? 1) : 0,
  };
}

/** All stages are done: the results of the last stage become the task's, and shots are joined to one video. */
async function conclude(step: DramaStep): Promise<NextStep> {
  const { deps, task, job, progress } = step;
  if (job.until !== "video") {
    const outputs = progress.stages.at(-1)!.outputs.map((output, index) => ({ ...output, index }));
    return await end(step, { status: "succeeded", outputs });
  }
  // A step that was repeated may have joined and recorded it before.
  let final = task.outputs[0];
  if (final === undefined) {
    try {
      final = await join(step);
    } catch (error) {
      if (!(error instanceof CannotJoin)) throw error;
      deps.log.warn("shots cannot be joined", { task_id: task.id, error });
      const message = "The shots cannot be joined to one video; each is listed by itself.";
      const failed = { ...progress, made: { ...progress.made, episodes: 0 as const } };
      return await end({ ...step, progress: failed }, {
        status: "failed",
        error: { code: "upstream_failed", message },
      });
    }
  }
  return await end(step, { status: "succeeded", outputs: [final] });
}

async function join({ deps, task, progress, signal }: DramaStep): Promise<StoredOutput> {
  const { videos, lines, script } = progress;
  const open = async (output: StoredOutput | undefined) => {
    if (output === undefined) return null;
    const { bytes } = await deps.files.openInput(task.account_id, output.file_id, SHOT_BYTES_MAX);
    return bytes;
  };
  const shots = [];
  for (const shot of script!.scenes.keys()) {
    shots.push({
      video: (await open(videos.get(shot + 1)))!,
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
  await recordOutput(deps.changes, task, output);
  return output;
}

/** Ends a drama. Whatever the status, subtasks that succeeded are listed and charged; the rest is released. */
async function end(
  { deps, task, job, progress }: DramaStep,
  ending: {
    status: EndStatus;
    outputs?: readonly TaskOutput[];
    error?: { code: string; message: string };
  },
): Promise<NextStep> {
  const { paid, unpaid, made } = progress;
  const { service: { currencyScale: scale } } = await deps.configOf(task.config_version);
  const charged = paid.length === 0
    ? { charge: null }
    : chargeDrama(job, { own: priceFrom(task.price!), subtasks: paid, unpaid, made, scale });
  await finishTask(deps, task, {
    ...ending,
    ...charged,
    units: made.shots,
    stage: progress.stage,
    stages: progress.stages,
  });
  return "done";
}
