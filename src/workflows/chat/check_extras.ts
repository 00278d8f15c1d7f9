import { ApiError } from "../../lib/api_error.ts";
import { isGiven } from "../../lib/given.ts";
import type { PriceTerms } from "../../model_types/price_terms.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";

/** What a request asks for that providers charge beyond their base price. */
export interface ChatExtras {
  /** The processing tier, unless it is the base one. */
  readonly serviceTier: string | undefined;
  readonly webSearch: boolean;
  /** It asks for its prompt to be cached. */
  readonly caches: boolean;
  readonly cachesForHour: boolean;
}

/** Values that mean the base price, whatever it is. */
const BASE_TIERS: ReadonlySet<unknown> = new Set(["auto", "default"]);
const BASE_RETENTIONS: ReadonlySet<unknown> = new Set(["in_memory", "in-memory"]);

/**
 * Rejects what providers charge for and the price of the model does not know: the client would pay the base
 * price, and the operator the difference.
 */
export function checkExtras(terms: PriceTerms, request: ChatRequest): ChatExtras {
  const { service_tier: tier, web_search_options: search, store } = request;
  const serviceTier = isGiven(tier) && !BASE_TIERS.has(tier) ? String(tier) : undefined;
  if (serviceTier !== undefined && !Object.hasOwn(terms.service_tiers ?? {}, serviceTier)) {
    const offered = ["auto", "default", ...Object.keys(terms.service_tiers ?? {})];
    throw unpriced("service_tier", `must be one of ${offered.join(", ")} with this model`);
  }
  const webSearch = isGiven(search);
  if (webSearch && terms.fees?.web_search === undefined) {
    throw unpriced("web_search_options", "cannot be used with this model, which does not search");
  }
  if (store === true) throw unpriced("store", "cannot be true: answers are not stored");
  const retainsForHour = checkRetention(terms, request);
  const marks = cacheMarks(request);
  const forHour = marks.find(({ ttl }) => ttl === "1h");
  const caches = terms.cache_write_price !== undefined || terms.cache_write_1h_price !== undefined;
  if (caches && forHour !== undefined && terms.cache_write_1h_price === undefined) {
    throw unpriced(`${forHour.path}.cache_control.ttl`, "must be 5m with this model");
  }
  return {
    serviceTier,
    webSearch,
    caches: caches && marks.length > 0,
    cachesForHour: caches && forHour !== undefined || retainsForHour,
  };
}

/** Whether the prompt is to stay cached for long, which costs what a price for an hour says. */
function checkRetention(terms: PriceTerms, request: ChatRequest): boolean {
  const { prompt_cache_retention: retention, prompt_cache_options: options } = request;
  const isLong = isGiven(retention) && !BASE_RETENTIONS.has(retention);
  if (isLong && terms.cache_write_1h_price === undefined) {
    throw unpriced("prompt_cache_retention", "must be in_memory with this model");
  }
  if (isGiven(options) && terms.cache_write_price === undefined) {
    throw unpriced("prompt_cache_options", "cannot be used with this model");
  }
  return isLong;
}

interface CacheMark {
  readonly path: string;
  readonly ttl: unknown;
}

/** The `cache_control` of parts of messages, which are checked. */
function cacheMarks({ messages }: ChatRequest): CacheMark[] {
  const marks: CacheMark[] = [];
  for (const [at, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue;
    for (const [within, part] of content.entries()) {
      const mark = part?.cache_control;
      if (mark) marks.push({ path: `messages.${at}.content.${within}`, ttl: mark.ttl });
    }
  }
  return marks;
}

function unpriced(param: string, problem: string): ApiError {
  return new ApiError("invalid_value", `${param} ${problem}.`, { param });
}
