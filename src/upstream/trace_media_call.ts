import type { Span } from "../platform/tracing/span.ts";
import { endFailed } from "../platform/tracing/traced.ts";
import type { UpstreamAssignment } from "./media_calls.ts";
import { UpstreamFailure } from "./failure.ts";

/** Runs a call to the upstream of a task as a span of the task's step, if that is traced. */
export async function tracedMediaCall<T>(
  { model, upstream, span: parent }: UpstreamAssignment,
  call: string,
  run: () => Promise<T>,
): Promise<T> {
  if (parent === undefined || parent === null) return await run();
  const span = parent.start(`${call} ${upstream.model}`, {
    kind: "client",
    attributes: {
      "gen_ai.operation.name": call,
      "gen_ai.provider.name": upstream.provider,
      "gen_ai.request.model": upstream.model,
      "gen_ai.output.type": model.type,
    },
  });
  try {
    const value = await run();
    span.end();
    return value;
  } catch (error) {
    fail(span, error);
    throw error;
  }
}

function fail(span: Span, error: unknown): void {
  if (!(error instanceof UpstreamFailure)) return endFailed(span, error);
  span.fail(error.kind);
  const { status } = error.options;
  if (status !== undefined) span.set({ "http.response.status_code": status });
  span.end();
}
