import type { MediaKind } from "../../model_types/definition.ts";
import { mediaDefinitionOf } from "../../model_types/model_types.ts";
import { BadOutput, type StoredFile } from "../../domain/files/files.ts";
import { RAW_AUDIO } from "../../domain/files/media_types.ts";
import { UpstreamFailure } from "../../upstream/failure.ts";
import type { UpstreamOutput } from "../../upstream/media_adapter.ts";
import { recordOutput } from "./lease.ts";
import type { AssignedStep } from "./media_step.ts";
import type { StoredOutput } from "./task.ts";

/** Results copied at once. */
const AT_ONCE = 3;

export interface Copied {
  readonly stored: StoredOutput[];
  /** Why one of those that are missing could not be downloaded; another try may help. */
  readonly failure: UpstreamFailure | null;
}

/**
 * Copies results into our own storage and remembers each, so that a crash repeats only what is missing.
 * One that is unusable is left out: what is there is what is paid for.
 */
export async function copyOutputs(
  step: AssignedStep,
  outputs: readonly UpstreamOutput[],
): Promise<Copied> {
  const { deps, task, assignment, signal } = step;
  const { n } = task.job.parameters;
  const wanted = outputs.slice(0, typeof n === "number" ? n : 1);
  const stored = [...task.outputs];
  const missing = [...wanted.entries()].filter(([at]) => !stored.some(({ index }) => index === at));
  // The last one is written down by the end of the task itself.
  const isLast = missing.length === 1;
  const failures: unknown[] = [];
  const tries = task.download_tries + 1;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let next = missing.shift(); next !== undefined; next = missing.shift()) {
      try {
        const output = await copyOutput(step, ...next);
        if (output !== null && !isLast) await recordOutput(deps.changes, task, output);
        if (output !== null) stored.push(output);
      } catch (error) {
        failures.push(error);
        if (!(error instanceof UpstreamFailure) || signal.aborted) continue;
        deps.log.warn("result download failed", {
          task_id: task.id,
          index: next[0],
          provider: assignment.upstream.provider,
          tries,
          tries_max: deps.downloads.limits.tries,
          error,
        });
      }
    }
  }));
  signal.throwIfAborted();
  // Those that worked are remembered; the others are why this step must be repeated.
  const broken = failures.find((error) => !(error instanceof UpstreamFailure));
  if (broken !== undefined) throw broken;
  return { stored, failure: failures.length === 0 ? null : failures[0] as UpstreamFailure };
}

/** Null for a result that cannot be used; another try would not help. */
async function copyOutput(
  { deps, task, assignment, signal }: AssignedStep,
  index: number,
  output: UpstreamOutput,
): Promise<StoredOutput | null> {
  try {
    const { body, mimeType } = await deps.media.fetchOutput(assignment, output, signal);
    const file = await deps.files.storeOutput(task.account_id, {
      taskId: task.id,
      body,
      kind: mediaDefinitionOf(task.type).output,
      mimeType: isRawAudio(task) ? RAW_AUDIO.mimeType : mimeType,
      name: `${task.id}-${index + 1}`,
    }).catch(async (error) => {
      // The store may not have closed it.
      await body.cancel().catch(() => undefined);
      throw error;
    });
    return outputOf(index, file);
  } catch (error) {
    const isUseless = error instanceof BadOutput ||
      error instanceof UpstreamFailure && error.received === "declined";
    if (!isUseless || signal.aborted) throw error;
    const message = error instanceof BadOutput ? "result not stored" : "result download failed";
    deps.log.warn(message, { task_id: task.id, index, given_up: true, error });
    return null;
  }
}

/** Providers name samples without a header in many ways; the bytes do not tell. */
function isRawAudio({ job }: AssignedStep["task"]): boolean {
  return job.parameters.response_format === "pcm";
}

/** A stored file as a result of a task. */
export function outputOf(index: number, file: StoredFile): StoredOutput {
  return {
    index,
    // Jobs make media.
    type: file.kind as MediaKind,
    file_id: file.id,
    mime_type: file.mimeType,
    bytes: file.bytes,
    ...(file.width === null ? {} : { width: file.width }),
    ...(file.height === null ? {} : { height: file.height }),
    ...(file.durationMs === null ? {} : { duration: file.durationMs / 1000 }),
  };
}
