import type { Transport } from "../../src/upstream/adapter.ts";
import { type AnswerEnvelope, answerEvents, usageOf, wholeAnswer } from "./chat.ts";
import { compose } from "./compose.ts";
import { type Directives, FailLimit, parseDirectives, takeDirectives } from "./directives.ts";
import { planEmbeddings } from "./embeddings.ts";
import { parseBody } from "./fields.ts";
import { openMediaApi } from "./media/media_api.ts";
import {
  planError,
  planLostAnswer,
  planStream,
  planWhole,
  planWithoutWork,
  type ResponsePlan,
} from "./plan_response.ts";
import { seededRandom } from "./random.ts";
import { readRequest, type SimulatedChat } from "./read_request.ts";
import { type Counters, sendResponse } from "./send_response.ts";
import { countPrompt, PromptCache } from "./usage.ts";
import { WireError } from "./wire_error.ts";

export interface Simulator {
  /** Answers `POST …/chat/completions`, `…/embeddings` and `…/audio/speech` as OpenAI does, and media jobs by its own API. */
  readonly transport: Transport;
  /** The same for a server, which cancels the body itself when its client disconnects. */
  readonly serve: Transport;
  readonly counters: Readonly<Counters>;
  /** How often each job was submitted and accepted, by its reference. */
  readonly submissions: ReadonlyMap<string, number>;
}

export interface SimulatorOptions {
  /** Directives for every request, written as in `x-simulate`; those of a request win. */
  defaults?: string;
  now?: () => number;
}

/** The base URL of a provider that has none configured. Nothing listens there: `transport` answers. */
export const baseUrl = "http://simulator.invalid/v1";

/** Limits of the plan cache. A benchmark sends the same body over and over. */
const CACHED_LENGTH_MAX = 32_768;
const CACHED_PARTS_MAX = 1000;
const CACHED_MAX = 256;

/** A simulator with counters, caches and failure counts of its own. */
export function openSimulator(
  { defaults: written = "", now = Date.now }: SimulatorOptions = {},
): Simulator {
  const counters: Counters = { started: 0, finished: 0, cancelled: 0 };
  const defaults = parseDirectives(written);
  const failLimit = new FailLimit();
  const planner = new ChatPlanner(defaults, failLimit);
  const media = openMediaApi({ defaults, now, failLimit });

  async function answer(request: Request, isServed: boolean): Promise<Response> {
    const urlError = checkUrl(request);
    const mediaPlan = urlError === null ? null : media.plan(request);
    if (mediaPlan !== null) {
      counters.started++;
      return sendResponse(await mediaPlan, request.signal, counters);
    }
    if (urlError !== null) {
      return new Response(urlError.body, {
        status: urlError.status,
        headers: { "content-type": "application/json" },
      });
    }
    const text = await request.text();
    counters.started++;
    const header = request.headers.get("x-simulate");
    const plan = isEmbeddings(request.url)
      ? planEmbeddings({ defaults, failLimit }, header, text)
      : planner.plan(header, text, Math.floor(now() / 1000));
    return sendResponse(plan, isServed && !plan.isTimed ? null : request.signal, counters);
  }

  return {
    transport: (request) => answer(request, false),
    serve: (request) => answer(request, true),
    counters,
    submissions: media.submissions,
  };
}

/** Decides what a chat request is answered with, and caches small plans within one second. */
class ChatPlanner {
  readonly #prompts = new PromptCache();
  readonly #cache = new Map<string, ResponsePlan>();
  #cacheSecond = 0;

  constructor(
    private readonly defaults: Directives,
    private readonly failLimit: FailLimit,
  ) {}

  plan(header: string | null, text: string, second: number): ResponsePlan {
    if (second !== this.#cacheSecond || this.#cache.size > CACHED_MAX) {
      this.#cache.clear();
      this.#cacheSecond = second;
    }
    const key = header === null ? text : `${header}\n${text}`;
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    try {
      const { plan, isRepeatable } = this.#makePlan(header, text, second);
      const isSmall = text.length <= CACHED_LENGTH_MAX && plan.parts.length <= CACHED_PARTS_MAX;
      if (isRepeatable && isSmall) this.#cache.set(key, plan);
      return plan;
    } catch (error) {
      if (error instanceof WireError) return planError(error);
      throw error;
    }
  }

  #makePlan(
    header: string | null,
    text: string,
    second: number,
  ): { plan: ResponsePlan; isRepeatable: boolean } {
    const configured = { ...this.defaults, ...parseDirectives(header ?? "") };
    const body = parseBody(text);
    const chat = readRequest(body);
    const message = chat.messages.findLast(({ role }) => role === "user")?.text ?? "";
    const { directives: requested, rest: prompt } = takeDirectives(message, configured);
    const directives = this.failLimit.apply({ ...configured, ...requested });
    const isLimited = directives.fail !== undefined;
    const immediate = planWithoutWork(directives);
    if (immediate !== null) return { plan: immediate, isRepeatable: !isLimited };

    const promptTokens = countPrompt(chat.messages, body);
    if (promptTokens > chat.contextTokens) throw promptTooLong(chat, promptTokens);
    const cachedTokens = this.#prompts.take(chat.messages);
    const choices = compose(chat, prompt, directives);
    const usage = usageOf(
      choices,
      promptTokens,
      Math.min(promptTokens, directives.cached ?? cachedTokens ?? 0),
    );
    const envelope: AnswerEnvelope = {
      id: `chatcmpl-${seededRandom(text).letters(29)}`,
      created: second,
      model: chat.model,
      topLogprobs: chat.logprobs ? chat.topLogprobs : null,
      usage: directives.no_usage ? null : usage,
      includeUsage: chat.includeUsage,
    };
    const plan = planLostAnswer(directives) ??
      (chat.stream
        ? planStream(answerEvents(choices, envelope), directives)
        : planWhole(wholeAnswer(choices, envelope), directives, {
          spentMs: usage.completion_tokens * (directives.pace ?? 0),
        }));
    return { plan, isRepeatable: cachedTokens === null && !isLimited };
  }
}

function isEmbeddings(url: string): boolean {
  return url.endsWith("/embeddings");
}

/** The error for a request that is neither `POST …/chat/completions` nor `POST …/embeddings`. */
function checkUrl({ method, url }: Request): WireError | null {
  if (method === "POST" && (url.endsWith("/chat/completions") || isEmbeddings(url))) return null;
  const { pathname } = new URL(url);
  if (!pathname.endsWith("/chat/completions") && !isEmbeddings(pathname)) {
    return new WireError(404, `Invalid URL (${method} ${pathname})`, null, "unknown_url");
  }
  if (method === "POST") return null;
  return new WireError(
    405,
    `Not allowed to ${method} on ${pathname}.`,
    null,
    "method_not_supported",
  );
}

function promptTooLong(chat: SimulatedChat, tokens: number): WireError {
  return new WireError(
    400,
    `This model's maximum context length is ${chat.contextTokens} tokens. However, your messages ` +
      `resulted in ${tokens} tokens. Please reduce the length of the messages.`,
    "messages",
    "context_length_exceeded",
  );
}
