import { countTokens } from "../../lib/count_tokens.ts";
import { costAttribution } from "../../domain/pricing/cost_attribution.ts";
import { type Charge, chargeUsage, type Quote } from "../../domain/pricing/quote.ts";
import {
  type AskedExtras,
  chatUsage,
  inputTokens,
  type MeteredChat,
  outputTokens,
} from "../../model_types/chat.ts";
import type { Upstream } from "../../platform/config/config.ts";
import type { ChatChunk, ChatReply, ChatRequest, ReportedUsage } from "../../upstream/adapter.ts";

export interface MeterOptions {
  /** The model may reason without showing it: then reasoning is estimated by time. */
  mayHideReasoning?: boolean;
  /** The maximum tokens of the request. A count far above it is treated as an error of the upstream. */
  tokensMax?: number;
  now?: () => number;
}

/** The speed of a slow model, and the usual time to the first token: hidden reasoning is never overcharged by much. */
const HIDDEN_TOKENS_PER_SECOND = 50;
const USUAL_PAUSE_MS = 1_000;
const CHARACTERS_PER_TOKEN = 4;
/** How far an upstream's count may exceed the maximum of the request before our estimate is used instead. */
const ABSURD_FACTOR = 100;
/** Providers add instructions and search results of their own to short requests. */
const ABSURD_TOKENS_MIN = 100_000;

/** Meters an answer while it arrives. */
export class ChatMeter {
  readonly #produced: string[] = [];
  readonly #finished = new Set<number>();
  readonly #choices: number;
  /** Maximum output tokens, including reasoning. */
  readonly #limit: number;
  readonly #now: () => number;
  readonly #startedAt: number;
  /** When the first content that is not reasoning arrived. */
  #answeredAt: number | null = null;
  #showsReasoning = false;
  #characters = 0;
  #promptCharacters: number | null = null;
  #reported: ReportedUsage | null = null;
  #isComplete = false;
  /** As the answering upstream counts them. */
  imageTokens = 0;

  constructor(private readonly request: ChatRequest, private readonly options: MeterOptions = {}) {
    this.#choices = typeof request.n === "number" ? request.n : 1;
    const { max_completion_tokens: limit } = request;
    this.#limit = typeof limit === "number" ? limit * this.#choices : Infinity;
    this.#now = options.now ?? (() => performance.now());
    this.#startedAt = this.#now();
  }

  /** Usage may come with any event, also of an answer that ends early; the last one counts. */
  add(chunk: ChatChunk): void {
    if (chunk.usage !== undefined) this.#report(chunk.usage);
    if (chunk.done === true) this.#isComplete = true;
    for (const { index, delta, finish_reason } of chunk.choices) {
      if (delta.reasoning_content) {
        this.#showsReasoning = true;
        this.#keep(delta.reasoning_content);
      }
      if (delta.content) this.#keepAnswer(delta.content);
      if (delta.refusal) this.#keepAnswer(delta.refusal);
      for (const { function: call } of delta.tool_calls ?? []) {
        if (call?.name) this.#keepAnswer(call.name);
        if (call?.arguments) this.#keepAnswer(call.arguments);
      }
      if (delta.function_call?.name) this.#keepAnswer(delta.function_call.name);
      if (delta.function_call?.arguments) this.#keepAnswer(delta.function_call.arguments);
      if (finish_reason !== null) this.#finished.add(index);
    }
  }

  addReply({ choices, usage }: ChatReply): void {
    if (usage !== null) this.#report(usage);
    this.#isComplete = true;
    for (const { message } of choices) {
      for (const text of [message.content, message.reasoning_content, message.refusal]) {
        if (text) this.#keep(text);
      }
      for (const { function: call } of message.tool_calls ?? []) {
        this.#keep(call.name + call.arguments);
      }
      if (message.function_call) {
        this.#keep(message.function_call.name + message.function_call.arguments);
      }
    }
  }

  #report(usage: ReportedUsage): void {
    const max = Math.max(ABSURD_TOKENS_MIN, ABSURD_FACTOR * (this.options.tokensMax ?? Infinity));
    const total = inputTokens(usage) + outputTokens(usage);
    this.#reported = Number.isSafeInteger(total) && total <= max ? usage : null;
  }

  /** The whole answer has arrived; only its usage may still be missing. */
  get isFinished(): boolean {
    return this.#isComplete || this.#finished.size >= this.#choices;
  }

  /** A quick estimate, for checkpoints. */
  soFar(): MeteredChat {
    if (this.#reported !== null && this.isFinished) {
      return { tokens: this.#reported, isEstimated: false };
    }
    this.#promptCharacters ??= promptText(this.request).length;
    const input = Math.ceil(this.#promptCharacters / CHARACTERS_PER_TOKEN);
    return this.#estimate(input, Math.ceil(this.#characters / CHARACTERS_PER_TOKEN));
  }

  /** The count that is charged. */
  async total(): Promise<MeteredChat> {
    if (this.#reported !== null && this.isFinished) {
      return { tokens: this.#reported, isEstimated: false };
    }
    const input = this.#reported === null ? await countTokens(promptText(this.request)) : 0;
    return this.#estimate(input, await countTokens(this.#produced.join("")));
  }

  /** A count from the middle of an answer is exact for the prompt and a minimum for the output. */
  #estimate(promptTokens: number, producedTokens: number): MeteredChat {
    const reported = this.#reported;
    const output = Math.max(
      producedTokens,
      Math.min(producedTokens + (reported === null ? this.#hiddenTokens() : 0), this.#limit),
    );
    const tokens = reported ??
      { input: promptTokens + this.imageTokens, cachedInput: 0, output: 0, reasoning: 0 };
    return {
      tokens: { ...tokens, output: Math.max(tokens.output, output - tokens.reasoning) },
      isEstimated: true,
    };
  }

  #hiddenTokens(): number {
    if (!this.options.mayHideReasoning || this.#showsReasoning) return 0;
    const ms = (this.#answeredAt ?? this.#now()) - this.#startedAt - USUAL_PAUSE_MS;
    return Math.max(0, Math.ceil(ms / 1000 * HIDDEN_TOKENS_PER_SECOND));
  }

  #keepAnswer(text: string): void {
    this.#answeredAt ??= this.#now();
    this.#keep(text);
  }

  #keep(text: string): void {
    this.#produced.push(text);
    this.#characters += text.length;
  }
}

/** What a metered chat costs: the client what it asked for, us what served it. */
export function chargeFor(
  quote: Pick<Quote, "price" | "kind">,
  upstream: Upstream,
  metered: MeteredChat,
  asked: AskedExtras,
): Charge {
  const usage = chatUsage(metered, asked);
  const { serviceTier } = metered.tokens;
  const served = serviceTier === usage.service_tier
    ? usage
    : { ...usage, service_tier: serviceTier };
  return chargeUsage(quote, usage, costAttribution(upstream, served));
}

export function tokenCount({ tokens }: MeteredChat): number {
  return inputTokens(tokens) + outputTokens(tokens);
}

/** All parts of a request that a model reads as text. */
export function promptText(
  { messages, tools, functions, response_format, prediction }: ChatRequest,
): string {
  const texts: string[] = [];
  for (const value of [tools, functions, response_format, prediction]) {
    if (value !== undefined && value !== null) texts.push(JSON.stringify(value));
  }
  for (const { role, content, ...rest } of messages) {
    texts.push(String(role));
    for (const part of Array.isArray(content) ? content : [content]) {
      if (typeof part === "string") texts.push(part);
      else if (typeof part?.text === "string") texts.push(part.text);
      else if (typeof part?.refusal === "string") texts.push(part.refusal);
    }
    for (const name in rest) texts.push(JSON.stringify(rest[name]));
  }
  return texts.join("\n");
}
