import type { Transport } from "../../src/upstream/adapter.ts";
import { chanceFrom } from "./chance.ts";
import { answerEvents, type Frame, usageOf, wholeAnswer } from "./chat.ts";
import { compose } from "./compose.ts";
import type { Fields } from "./fields.ts";
import { openMedia } from "./media/media.ts";
import {
  type Plan,
  planError,
  planRefusal,
  planStream,
  planUntold,
  planWhole,
} from "./misbehave.ts";
import { isHarmful, type Orders, parseOrders, peaceful, takeDirectives } from "./directives.ts";
import { type Counters, play } from "./play.ts";
import { type ChatAsk, readRequest } from "./read_request.ts";
import { countPrompt, PromptCache } from "./usage.ts";
import { WireError } from "./wire_error.ts";

export interface Simulator {
  /** Answers `POST …/chat/completions` and `…/audio/speech` as OpenAI does, and jobs in its own way. */
  readonly transport: Transport;
  /** The same for a server, which cancels the body itself when its client leaves. */
  readonly serve: Transport;
  readonly counters: Readonly<Counters>;
  /** How often each job was handed in and accepted, by the reference it came with. */
  readonly submissions: ReadonlyMap<string, number>;
}

export interface SimulatorOptions {
  /** Orders for every request, as in `x-simulate`, which wins over them. */
  orders?: string;
  now?: () => number;
}

/** Where a declaration finds it that names no address. Nothing listens there: `transport` answers. */
export const baseUrl = "http://simulator.invalid/v1";

/**
 * A benchmark sends the same body over and over: small plans are kept, as long as the clock shows the
 * same second.
 */
const KEPT_LENGTH_MAX = 32_768;
const KEPT_PARTS_MAX = 1000;
const KEPT_MAX = 256;

/** A simulator with its own counters and its own memory of what it was told and asked before. */
export function openSimulator({ orders = "", now = Date.now }: SimulatorOptions = {}): Simulator {
  const counters: Counters = { started: 0, finished: 0, cancelled: 0 };
  const standing = parseOrders(orders);
  const prompts = new PromptCache();
  const failures = new Map<string, number>();
  const kept = new Map<string, Plan>();
  let keptSecond = 0;
  const media = openMedia({ standing, now, ordersNow });

  function planFor(header: string | null, text: string): Plan {
    const second = Math.floor(now() / 1000);
    if (second !== keptSecond || kept.size > KEPT_MAX) {
      kept.clear();
      keptSecond = second;
    }
    const key = header === null ? text : `${header}\n${text}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    try {
      const { plan, isRepeatable } = makePlan(header, text, second);
      const isSmall = text.length <= KEPT_LENGTH_MAX && plan.parts.length <= KEPT_PARTS_MAX;
      if (isRepeatable && isSmall) kept.set(key, plan);
      return plan;
    } catch (error) {
      if (error instanceof WireError) return planError(error);
      throw error;
    }
  }

  function makePlan(
    header: string | null,
    text: string,
    second: number,
  ): { plan: Plan; isRepeatable: boolean } {
    const declared = { ...standing, ...parseOrders(header ?? "") };
    const body = parseBody(text);
    const ask = readRequest(body);
    const prompt = ask.messages.findLast((message) => message.role === "user")?.text ?? "";
    const { orders: asked, rest } = declared.directives === false
      ? { orders: {}, rest: prompt }
      : takeDirectives(prompt);
    const orders = ordersNow({ ...declared, ...asked });
    const refusal = planRefusal(orders);
    if (refusal !== null) return { plan: refusal, isRepeatable: orders.fail === undefined };

    const promptTokens = countPrompt(ask.messages, body);
    if (promptTokens > ask.contextTokens) throw tooLong(ask, promptTokens);
    const cached = prompts.take(ask.messages);
    const choices = compose(ask, rest, orders);
    const usage = usageOf(
      choices,
      promptTokens,
      Math.min(promptTokens, orders.cached ?? cached ?? 0),
    );
    const frame: Frame = {
      id: `chatcmpl-${chanceFrom(text).letters(29)}`,
      created: second,
      model: ask.model,
      topLogprobs: ask.logprobs ? ask.topLogprobs : null,
      usage: orders.no_usage ? null : usage,
      includeUsage: ask.includeUsage,
    };
    const plan = planUntold(orders) ??
      (ask.stream
        ? planStream(answerEvents(choices, frame), orders)
        : planWhole(wholeAnswer(choices, frame), orders, {
          spentMs: usage.completion_tokens * (orders.pace ?? 0),
        }));
    return { plan, isRepeatable: cached === null && orders.fail === undefined };
  }

  /** Orders that hold for the first requests of a name only are lifted after them. */
  function ordersNow(orders: Orders): Orders {
    if (orders.fail === undefined) return orders;
    const name = orders.name ?? "";
    const count = (failures.get(name) ?? 0) + 1;
    failures.set(name, count);
    if (count > orders.fail) return { ...peaceful(orders), fail: orders.fail };
    return isHarmful(orders) ? orders : { ...orders, status: 500 };
  }

  async function answer(request: Request, isServed: boolean): Promise<Response> {
    const misplaced = misplacedError(request);
    const made = misplaced === null ? null : media.plan(request);
    if (made !== null) {
      counters.started++;
      return play(await made, request.signal, counters);
    }
    if (misplaced !== null) {
      return new Response(misplaced.body, {
        status: misplaced.status,
        headers: { "content-type": "application/json" },
      });
    }
    const text = await request.text();
    counters.started++;
    const plan = planFor(request.headers.get("x-simulate"), text);
    return play(plan, isServed && !plan.isTimed ? null : request.signal, counters);
  }

  return {
    transport: (request) => answer(request, false),
    serve: (request) => answer(request, true),
    counters,
    submissions: media.submissions,
  };
}

/** The simulator that answers in this process. */
export const simulator = openSimulator();

function misplacedError({ method, url }: Request): WireError | null {
  if (method === "POST" && url.endsWith("/chat/completions")) return null;
  const { pathname } = new URL(url);
  if (!pathname.endsWith("/chat/completions")) {
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

function parseBody(text: string): Fields {
  try {
    return JSON.parse(text);
  } catch {
    throw new WireError(
      400,
      "We could not parse the JSON body of your request. The OpenAI API expects a JSON payload.",
    );
  }
}

function tooLong(ask: ChatAsk, tokens: number): WireError {
  return new WireError(
    400,
    `This model's maximum context length is ${ask.contextTokens} tokens. However, your messages ` +
      `resulted in ${tokens} tokens. Please reduce the length of the messages.`,
    "messages",
    "context_length_exceeded",
  );
}
