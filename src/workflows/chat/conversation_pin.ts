import { hashRange, hashText } from "../../lib/hash_text.ts";
import type { PriceTerms } from "../../model_types/price_terms.ts";
import type { Model } from "../../platform/config/config.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";

/** How much of a text tells conversations apart, from its beginning and from its end. */
const SAMPLE_CHARACTERS = 128;
/** Messages before the first of the user, and parts of a message, that are looked at. */
const PIECES_MAX = 8;

/**
 * A number that all requests of one conversation have in common, so that they reach the upstream whose cache has their
 * prompt. Null where there is no choice of upstreams, or no sign of a cache.
 */
export function conversationPin(
  { upstreams }: Pick<Model, "upstreams">,
  terms: PriceTerms,
  request: ChatRequest,
): number | null {
  if (upstreams.length === 1) return null;
  const { prompt_cache_key: key } = request;
  if (typeof key === "string" && key !== "") return hashSample(key, 0);
  const isCached = pricesCache(terms) ||
    upstreams.some(({ cost }) => cost !== null && pricesCache(cost));
  return isCached ? hashBeginning(request) : null;
}

function pricesCache({ cached_input_price, cache_write_price }: PriceTerms): boolean {
  return cached_input_price !== undefined || cache_write_price !== undefined;
}

/** Of what stays the same from turn to turn: everything up to the first message of the user. */
function hashBeginning({ messages }: ChatRequest): number {
  let hash = 0;
  for (let at = 0; at < messages.length && at < PIECES_MAX; at++) {
    const { role, content } = messages[at]!;
    hash = hashContent(content, hashText(String(role), hash));
    if (role === "user") break;
  }
  return hash;
}

function hashContent(content: unknown, seed: number): number {
  if (!Array.isArray(content)) return hashSample(content, seed);
  let hash = seed;
  for (let at = 0; at < content.length && at < PIECES_MAX; at++) {
    hash = hashSample(content[at]?.text, hash);
  }
  return hash;
}

/** Agents begin every conversation with the same long texts, and end them with what differs. */
function hashSample(text: unknown, seed: number): number {
  if (typeof text !== "string") return seed;
  const { length } = text;
  if (length <= 2 * SAMPLE_CHARACTERS) return hashText(text, seed);
  const beginning = hashRange(text, 0, SAMPLE_CHARACTERS, seed ^ length);
  return hashRange(text, length - SAMPLE_CHARACTERS, length, beginning);
}
