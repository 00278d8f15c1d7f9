import type { Files } from "../../domain/files/files.ts";
import { toReceipt } from "../../domain/ledger/receipt.ts";
import { responseIdOf } from "./response_of_task.ts";
import {
  receiptOf,
  type TaskOutput,
  type TaskRow,
  type TaskStage,
  type TextOutput,
} from "./task.ts";

export interface RenderOptions {
  files: Pick<Files, "signedUrl">;
  currency: string;
  /** How long results are kept. */
  keepDays: number;
  now: number;
}

/** A task as clients see it. Addresses of results are signed anew each time. */
export function renderTask(row: TaskRow, options: RenderOptions) {
  return {
    id: row.id,
    object: "generation.task",
    type: row.type,
    ...(row.type === "chat" ? { response_id: responseIdOf(row.request_id) } : {}),
    model: row.model,
    status: row.status,
    progress: row.progress,
    ...(row.stages === null
      ? {}
      : { stage: row.stage, stages: renderStages(row.stages, row, options) }),
    output: row.status === "succeeded" ? renderOutputs(row.outputs, options) : [],
    usage: { total_units: Number(row.units) },
    error: row.error_code === null
      ? null
      : { code: row.error_code, message: row.error_message ?? "" },
    charge: toReceipt(receiptOf(row), options.currency),
    request_id: row.request_id,
    client_request_id: row.client_request_id,
    created: Math.floor(row.created_at.getTime() / 1000),
    started_at: row.started_at?.toISOString() ?? null,
    completed_at: row.completed_at?.toISOString() ?? null,
    expires_at: expiry(row, options.keepDays)?.toISOString() ?? null,
    updated_at: row.updated_at.toISOString(),
  };
}

export type RenderedTask = ReturnType<typeof renderTask>;

export function renderOutputs(
  outputs: readonly TaskOutput[],
  { files, now }: Pick<RenderOptions, "files" | "now">,
) {
  return outputs.toSorted((a, b) => a.index - b.index).map(({ index: _, ...output }) => {
    if ("content" in output) return renderText(output, { files, now });
    const { type, file_id, ...facts } = output;
    const { url, expiresAt } = files.signedUrl(file_id, now);
    return { type, url, file_id, ...facts, expires_at: expiresAt.toISOString() };
  });
}

function renderText(
  { type, content, file, shot }: Omit<TextOutput, "index">,
  { files, now }: Pick<RenderOptions, "files" | "now">,
) {
  const { url, expiresAt } = file === undefined
    ? { url: undefined, expiresAt: undefined }
    : files.signedUrl(file.file_id, now);
  return { type, url, ...file, expires_at: expiresAt?.toISOString(), shot, content };
}

/** The stages of a pipeline, with URLs of their results so far. A stage of an ended task does not run. */
function renderStages(
  stages: readonly TaskStage[],
  { status, completed_at }: TaskRow,
  options: RenderOptions,
) {
  const ended = status === "cancelled" ? "cancelled" : "failed";
  return stages.map(({ outputs, ...stage }) => ({
    ...stage,
    ...(stage.status === "running" && completed_at !== null ? { status: ended } : {}),
    output: renderOutputs(outputs, options),
  }));
}

/** While it lives, when it ends by itself; when it has succeeded, when its results are removed. */
function expiry(
  { type, status, completed_at, deadline_at }: TaskRow,
  keepDays: number,
): Date | null {
  if (completed_at === null) return deadline_at;
  // A response is kept as long as other responses are.
  if (status !== "succeeded" || type === "chat") return null;
  return new Date(completed_at.getTime() + keepDays * 86_400_000);
}
