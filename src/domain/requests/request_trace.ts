import type { Attributes, Span } from "../../platform/tracing/span.ts";
import type { OpenRequest, RequestAttempt, RequestTokens } from "./open_request.ts";

/** What the conventions for generative AI call the operations; other endpoints make files. */
const OPERATIONS: Readonly<Record<string, string>> = { chat: "chat", embeddings: "embeddings" };

/** Ends the span of a request: what the request log has of it becomes attributes, and each attempt a span. */
export function endRequestTrace(span: Span, request: OpenRequest): void {
  const { model, attempts, tokens, charge, task, errorCode } = request;
  const usage = tokens === null ? {} : usageOf(tokens);
  const last = attempts.at(-1);
  for (const attempt of attempts) {
    traceAttempt(span, request, attempt, attempt === last && attempt.outcome === "ok" ? usage : {});
  }
  if (model !== null) {
    span.set({ ...operationOf(request), "gen_ai.request.model": model, ...usage });
  }
  if (charge !== null && tokens !== null) span.set({ "tollgate.charge": charge });
  if (task !== null) span.set({ "tollgate.task.id": task });
  if (errorCode !== null) span.set({ "tollgate.error.code": errorCode });
  span.end();
}

function traceAttempt(
  parent: Span,
  request: OpenRequest,
  { provider, model, outcome, startedAt, firstByteMs, durationMs }: RequestAttempt,
  usage: Attributes,
): void {
  const operation = operationOf(request);
  const span = parent.start(`${operation["gen_ai.operation.name"]} ${model}`, {
    kind: "client",
    startedAt,
    attributes: {
      ...operation,
      "gen_ai.provider.name": provider,
      "gen_ai.request.model": model,
      ...usage,
    },
  });
  if (request.isStream && firstByteMs !== null) {
    span.addEvent("first byte", startedAt + firstByteMs);
    span.set({ "gen_ai.response.time_to_first_chunk": firstByteMs / 1000 });
  }
  if (outcome !== "ok") span.fail(outcome);
  span.end(startedAt + durationMs);
}

function operationOf({ endpoint }: OpenRequest) {
  return { "gen_ai.operation.name": OPERATIONS[endpoint ?? ""] ?? "generate_content" };
}

/** The conventions count cached input as input too. */
function usageOf(tokens: RequestTokens): Attributes {
  const { input, cachedInput, cacheWrite = 0, cacheWrite1h = 0, audioInput = 0 } = tokens;
  const cacheWritten = cacheWrite + cacheWrite1h;
  return {
    "gen_ai.usage.input_tokens": input + cachedInput + cacheWritten + audioInput,
    "gen_ai.usage.output_tokens": tokens.output + tokens.reasoning + (tokens.audioOutput ?? 0),
    ...(cachedInput > 0 ? { "gen_ai.usage.cache_read.input_tokens": cachedInput } : {}),
    ...(cacheWritten > 0 ? { "gen_ai.usage.cache_creation.input_tokens": cacheWritten } : {}),
  };
}
