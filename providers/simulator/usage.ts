import type { Fields } from "./fields.ts";
import type { Message } from "./messages.ts";
import { hash } from "./chance.ts";
import { countTokens } from "./tokens.ts";

/** Tokens around each message, and around the whole, as OpenAI's own formats have them. */
const TOKENS_PER_MESSAGE = 3;
const TOKENS_AROUND = 3;
/** What an image, sound or document counts, whatever it shows. */
export const TOKENS_PER_ATTACHMENT = 85;
/** A shorter opening is never kept; a longer one is in steps of this size. */
const CACHE_TOKENS_MIN = 1024;
const CACHE_STEP = 128;
const OPENINGS_MAX = 1000;

/** Everything that a prompt counts: its messages, and the tools and the schema that go with it. */
export function countPrompt(messages: readonly Message[], body: Fields): number {
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

/** Remembers long system prompts: from the second time on, most of such a prompt counts as cached. */
export class PromptCache {
  readonly #openings = new Set<string>();

  /** Tokens of this prompt that were there before; null for a prompt too short to be kept. */
  take(messages: readonly Message[]): number | null {
    const end = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
    const opening = messages.slice(0, end < 0 ? messages.length : end);
    const text = opening.map((message) => message.text).join("\n");
    if (text.length < CACHE_TOKENS_MIN) return null;
    const tokens = countTokens(text);
    if (tokens < CACHE_TOKENS_MIN) return null;
    const key = `${text.length} ${hash(text)}`;
    if (this.#openings.has(key)) return tokens - tokens % CACHE_STEP;
    if (this.#openings.size >= OPENINGS_MAX) this.#openings.clear();
    this.#openings.add(key);
    return 0;
  }
}
