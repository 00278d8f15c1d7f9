import { endFailed } from "../../platform/tracing/traced.ts";
import type { TaskDeps } from "./deps.ts";
import type { ClaimedRow } from "./task.ts";

/** Runs one step of a task as a span in the trace of the request that created it, if that is traced. */
export async function tracedStep<T>(
  deps: TaskDeps,
  { id, type, model, phase, traceparent }: ClaimedRow,
  run: (deps: TaskDeps) => Promise<T>,
): Promise<T> {
  const span = deps.tracer?.resume(`task ${phase}`, traceparent, {
    attributes: {
      "tollgate.task.id": id,
      "gen_ai.request.model": model,
      "gen_ai.output.type": type,
    },
  }) ?? null;
  if (span === null) return await run(deps);
  try {
    const next = await run({ ...deps, span });
    span.end();
    return next;
  } catch (error) {
    endFailed(span, error);
    throw error;
  }
}
