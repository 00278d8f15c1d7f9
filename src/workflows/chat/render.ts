import { inputTokens, outputTokens } from "../../model_types/chat.ts";
import type { ChatReply, ChunkChoice, ReportedUsage } from "../../upstream/adapter.ts";

/** The fields that every part of one answer repeats: our id, our model. */
export interface Heading {
  id: string;
  model: string;
  /** Unix seconds. */
  created: number;
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

export function renderCompletion(
  { id, model, created }: Heading,
  reply: ChatReply,
  usage: ReportedUsage,
): string {
  const choices = reply.choices.map(({ index, message, logprobs, finish_reason }) => ({
    index,
    message: { ...message, content: message.content ?? null, refusal: message.refusal ?? null },
    logprobs: logprobs ?? null,
    finish_reason,
  }));
  return JSON.stringify({
    id,
    object: "chat.completion",
    created,
    model,
    choices,
    usage: renderUsage(usage),
  });
}

export const DONE = "data: [DONE]\n\n";
export const HEARTBEAT = ": still here\n\n";

/** Writes chunks; their constant parts are rendered once. */
export class ChunkWriter {
  readonly #head: string;
  readonly #tail: string;

  constructor({ id, model, created }: Heading, private readonly showsUsage: boolean) {
    this.#head =
      `data: {"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":${created},` +
      `"model":${JSON.stringify(model)},"choices":`;
    this.#tail = showsUsage ? ',"usage":null}\n\n' : "}\n\n";
  }

  chunk(choices: readonly ChunkChoice[]): string {
    return this.#head + JSON.stringify(choices) + this.#tail;
  }

  /** The last chunk, for clients that asked for usage; nothing for the others. */
  usage(usage: ReportedUsage): string {
    return this.showsUsage
      ? `${this.#head}[],"usage":${JSON.stringify(renderUsage(usage))}}\n\n`
      : "";
  }
}
