import type { JsonObject } from "./fields.ts";
import type { Message } from "./messages.ts";
import { hash } from "./random.ts";
import { countTokens } from "./tokens.ts";

/** Tokens around each message, and around the whole, as OpenAI's own formats have them. */
const TOKENS_PER_MESSAGE = 3;
const TOKENS_AROUND = 3;
/** Tokens of an image, audio file or document, whatever its size. */
export const TOKENS_PER_ATTACHMENT = 85;
/** Shorter system prompts are not cached; longer ones in steps of CACHE_STEP tokens. */
const CACHE_TOKENS_MIN = 1024;
const CACHE_STEP = 128;
const CACHED_MAX = 1000;

/** The tokens of a prompt: messages, tools and the response's schema. */
export function countPrompt(messages: readonly Message[], body: JsonObject): number {
  let tokens = TOKENS_AROUND;
  for (const { text, name, calls, images, files } of messages) {
    tokens += TOKENS_PER_MESSAGE + countTokens(text) + TOKENS_PER_ATTACHMENT * (images + files);
    if (name !== null) tokens += countTokens(name);
    for (const call of calls) tokens += countTokens(call.name) + countTokens(call.arguments);
  }
  for (const part of [body.tools, body.response_format]) {
    if (part !== undefined && part !== null) tokens += countTokens(JSON.stringify(part));
  }
  return tokens;
}

/** Remembers long system prompts: when one is sent again, most of its tokens count as cached. */
export class PromptCache {
  readonly #cached = new Set<string>();

  /** How many tokens of this prompt are cached; null for a prompt that is too short. */
  take(messages: readonly Message[]): number | null {
    const end = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
    const systemMessages = messages.slice(0, end < 0 ? messages.length : end);
    const text = systemMessages.map((message) => message.text).join("\n");
    if (text.length < CACHE_TOKENS_MIN) return null;
    const tokens = countTokens(text);
    if (tokens < CACHE_TOKENS_MIN) return null;
    const key = `${text.length} ${hash(text)}`;
    if (this.#cached.has(key)) return tokens - tokens % CACHE_STEP;
    if (this.#cached.size >= CACHED_MAX) this.#cached.clear();
    this.#cached.add(key);
    return 0;
  }
}
