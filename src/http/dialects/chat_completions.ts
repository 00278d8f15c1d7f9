import { inputTokens, outputTokens } from "../../model_types/chat.ts";
import type { ChatReply, ChatRequest, ReportedUsage } from "../../upstream/adapter.ts";
import type { AnswerWriter, ChatDialect, Heading } from "../../workflows/chat/dialect.ts";
import { errorBody } from "../render_error.ts";

const DONE = "data: [DONE]\n\n";

/** OpenAI's Chat Completions. */
export function chatCompletionsDialect(request: ChatRequest): ChatDialect {
  return {
    renderAnswer: renderCompletion,
    openStream: (heading) => openChunkWriter(heading, showsUsage(request)),
  };
}

/** Usage in OpenAI's format: prompt tokens include cached ones, completion tokens include reasoning. */
export function renderUsage(usage: ReportedUsage) {
  const { cachedInput, cacheWrite = 0, cacheWrite1h = 0, audioInput, reasoning, audioOutput } =
    usage;
  const prompt = inputTokens(usage);
  const completion = outputTokens(usage);
  const writes = cacheWrite + cacheWrite1h;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cachedInput,
      ...(writes > 0 ? { cache_write_tokens: writes } : {}),
      ...(audioInput ? { audio_tokens: audioInput } : {}),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      ...(audioOutput ? { audio_tokens: audioOutput } : {}),
    },
  };
}

function renderCompletion(heading: Heading, reply: ChatReply, usage: ReportedUsage): string {
  const choices = reply.choices.map(({ index, message, logprobs, finish_reason }) => {
    const { parts: _, ...shown } = message;
    return {
      index,
      message: { ...shown, content: shown.content ?? null, refusal: shown.refusal ?? null },
      logprobs: logprobs ?? null,
      finish_reason,
    };
  });
  return JSON.stringify({
    id: idOf(heading),
    object: "chat.completion",
    created: heading.created,
    model: heading.model,
    system_fingerprint: heading.fingerprint,
    choices,
    usage: renderUsage(usage),
  });
}

/** Writes chunks; their constant parts are rendered once. */
function openChunkWriter(heading: Heading, isUsageShown: boolean): AnswerWriter {
  const head = `data: {"id":${JSON.stringify(idOf(heading))},"object":"chat.completion.chunk",` +
    `"created":${heading.created},"model":${JSON.stringify(heading.model)},` +
    `"system_fingerprint":${JSON.stringify(heading.fingerprint)},"choices":`;
  const tail = isUsageShown ? ',"usage":null}\n\n' : "}\n\n";
  return {
    heartbeat: ": still here\n\n",
    chunk: ({ choices }) => choices.length === 0 ? "" : head + JSON.stringify(choices) + tail,
    end: (usage) =>
      isUsageShown ? `${head}[],"usage":${JSON.stringify(renderUsage(usage))}}\n\n${DONE}` : DONE,
    fail: (apiError) => `data: ${JSON.stringify(errorBody(apiError, heading.requestId))}\n\n`,
  };
}

function idOf({ requestId }: Heading): string {
  return `chatcmpl-${requestId.slice(4)}`;
}

function showsUsage(request: ChatRequest): boolean {
  return (request.stream_options as { include_usage?: boolean } | null | undefined)
    ?.include_usage === true;
}
