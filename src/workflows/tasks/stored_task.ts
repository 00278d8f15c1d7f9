import { z } from "zod";
import { parseStored } from "../../lib/stored_json.ts";
import type { MediaUsage, UpstreamOutput } from "../../upstream/media_adapter.ts";
import type { TaskJob } from "../../model_types/definition.ts";
import type {
  ClaimedRow,
  ClaimedTask,
  StoredOutput,
  TaskOutput,
  TaskStage,
  TextFile,
} from "./task.ts";

/**
 * Schemas of the JSON columns of a task. A task outlives a deploy: a field that earlier versions did not write
 * has a default here, and what cannot be read ends the task (see task_worker.ts).
 */

const inputRef = z.union([
  z.object({ role: z.enum(["image", "avatar", "audio"]), file_id: z.string() }),
  z.object({ role: z.enum(["image", "avatar", "audio"]), url: z.string() }),
]);

const taskJob: z.ZodType<TaskJob> = z.object({
  prompt: z.string().nullable().default(null),
  parameters: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  inputs: z.array(inputRef).default([]),
  is_awaited: z.boolean().optional(),
});

/** Loose: what a newer version wrote is passed on to clients as it is. */
export const storedOutput: z.ZodType<StoredOutput> = z.looseObject({
  index: z.number().int().min(0),
  type: z.enum(["image", "video", "audio"]),
  file_id: z.string(),
  mime_type: z.string(),
  bytes: z.number(),
  width: z.number().optional(),
  height: z.number().optional(),
  duration: z.number().optional(),
  shot: z.number().int().min(1).optional(),
});

export const textFile: z.ZodType<TextFile> = z.object({
  file_id: z.string(),
  mime_type: z.string(),
  bytes: z.number(),
});

const textOutput = z.looseObject({
  index: z.number().int().min(0),
  type: z.string(),
  content: z.unknown().refine((content) => content !== undefined),
  file: textFile.optional(),
  shot: z.number().int().min(1).optional(),
});

export const taskOutput: z.ZodType<TaskOutput> = z.union([storedOutput, textOutput]);

const taskStage: z.ZodType<TaskStage> = z.looseObject({
  stage: z.string(),
  status: z.enum(["waiting", "running", "succeeded", "failed", "cancelled"]),
  progress: z.number().default(0),
  outputs: z.array(taskOutput).default([]),
});

/** Results that an upstream names once; bytes are copied at once and never stored here. */
export interface StoredResult {
  readonly outputs: readonly UpstreamOutput[];
  readonly usage: MediaUsage | null;
}

const storedResult: z.ZodType<StoredResult> = z.object({
  outputs: z.array(z.object({
    url: z.string(),
    headers: z.record(z.string(), z.string()).default({}),
    mimeType: z.string().nullable().default(null),
    withKey: z.literal(true).optional(),
  })),
  usage: z.object({ outputs: z.number().optional(), durationMs: z.number().optional() })
    .nullable().default(null),
});

const storedOutputs = z.array(storedOutput);
const taskOutputs = z.array(taskOutput);
const taskStages = z.array(taskStage).nullable();

export function parseTaskJob(stored: unknown): TaskJob {
  return parseStored(taskJob, "job", stored);
}

export function parseTaskOutputs(stored: unknown): TaskOutput[] {
  return parseStored(taskOutputs, "outputs", stored);
}

export function parseTaskStages(stored: unknown): TaskStage[] | null {
  return parseStored(taskStages, "stages", stored);
}

export function parseStoredResult(stored: unknown): StoredResult {
  return parseStored(storedResult, "result", stored);
}

export function toClaimedTask(row: ClaimedRow): ClaimedTask {
  return { ...row, outputs: parseStored(storedOutputs, "outputs", row.outputs) };
}
