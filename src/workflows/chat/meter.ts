import { countTokens } from "../../lib/count_tokens.ts";
import type { Usage } from "../../domain/pricing/usage.ts";
import type { ChatChunk, ChatReply, ChatRequest, TokenUsage } from "../../upstream/adapter.ts";

/** Tokens of an answer, by the provider's count where it gave one and by ours where it did not. */
export interface MeteredChat {
  tokens: TokenUsage;
  isEstimated: boolean;
}

export interface MeterOptions {
  /** The model may think without showing it: then the time it took is all there is to go by. */
  mayHideReasoning?: boolean;
  /** The most tokens that the request can use. A count far beyond it is taken for an error of the upstream's. */
  tokensMax?: number;
  now?: () => number;
}

/** A slow model's pace, and the pause that every answer begins with: hidden reasoning is never overcharged by much. */
const HIDDEN_TOKENS_PER_SECOND = 50;
const USUAL_PAUSE_MS = 1_000;
const CHARACTERS_PER_TOKEN = 4;
/** How far an upstream's count may exceed what the request can use before ours is taken instead. */
const ABSURD_FACTOR = 100;
/** Providers add instructions and search results of their own to short requests. */
const ABSURD_TOKENS_MIN = 100_000;

/** Follows an answer and knows at any moment what it has used. */
export class ChatMeter {
  readonly #produced: string[] = [];
  readonly #finished = new Set<number>();
  readonly #choices: number;
  /** No answer is longer, thoughts included. */
  readonly #limit: number;
  readonly #now: () => number;
  readonly #startedAt: number;
  /** When the first part of the answer came that is no thought. */
  #answeredAt: number | null = null;
  #showsReasoning = false;
  #characters = 0;
  #promptCharacters: number | null = null;
  #told: TokenUsage | null = null;
  #isComplete = false;
  /** Of the upstream that answers. */
  imageTokens = 0;

  constructor(private readonly request: ChatRequest, private readonly options: MeterOptions = {}) {
    this.#choices = typeof request.n === "number" ? request.n : 1;
    const { max_completion_tokens: limit } = request;
    this.#limit = typeof limit === "number" ? limit * this.#choices : Infinity;
    this.#now = options.now ?? (() => performance.now());
    this.#startedAt = this.#now();
  }

  /** Usage counts from whichever event has it, also on answers that ended early; the last one holds. */
  add(chunk: ChatChunk): void {
    if (chunk.usage !== undefined) this.#tell(chunk.usage);
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
    if (usage !== null) this.#tell(usage);
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

  #tell(usage: TokenUsage): void {
    const { input, cachedInput, output, reasoning } = usage;
    const most = Math.max(ABSURD_TOKENS_MIN, ABSURD_FACTOR * (this.options.tokensMax ?? Infinity));
    const total = input + cachedInput + output + reasoning;
    this.#told = Number.isSafeInteger(total) && total <= most ? usage : null;
  }

  /** All of the answer has come; only its usage may still be on the way. */
  get isFinished(): boolean {
    return this.#isComplete || this.#finished.size >= this.#choices;
  }

  /** A quick guess for the record that a crash would leave behind. */
  soFar(): MeteredChat {
    if (this.#told !== null && this.isFinished) return { tokens: this.#told, isEstimated: false };
    this.#promptCharacters ??= promptText(this.request).length;
    const input = Math.ceil(this.#promptCharacters / CHARACTERS_PER_TOKEN);
    return this.#estimate(input, Math.ceil(this.#characters / CHARACTERS_PER_TOKEN));
  }

  /** The count that is charged. */
  async total(): Promise<MeteredChat> {
    if (this.#told !== null && this.isFinished) return { tokens: this.#told, isEstimated: false };
    const input = this.#told === null ? await countTokens(promptText(this.request)) : 0;
    return this.#estimate(input, await countTokens(this.#produced.join("")));
  }

  /** A count that a provider gave in the middle of its answer is right about the prompt, and a beginning of the rest. */
  #estimate(inputTokens: number, producedTokens: number): MeteredChat {
    const told = this.#told;
    const output = Math.max(
      producedTokens,
      Math.min(producedTokens + (told === null ? this.#hiddenTokens() : 0), this.#limit),
    );
    return {
      tokens: {
        input: told?.input ?? inputTokens + this.imageTokens,
        cachedInput: told?.cachedInput ?? 0,
        output: Math.max(told?.output ?? 0, output - (told?.reasoning ?? 0)),
        reasoning: told?.reasoning ?? 0,
      },
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

/** What a request is priced by. */
export function usageOf({ tokens, isEstimated }: MeteredChat): Usage {
  return {
    input_tokens: tokens.input,
    cached_input_tokens: tokens.cachedInput,
    output_tokens: tokens.output,
    reasoning_tokens: tokens.reasoning,
    calls: 1,
    ...(isEstimated ? { estimated: true } : {}),
  };
}

/** Everything of a request that a model reads as text. */
function promptText(
  { messages, tools, functions, response_format, prediction }: ChatRequest,
): string {
  const texts: string[] = [];
  for (const declared of [tools, functions, response_format, prediction]) {
    if (declared !== undefined && declared !== null) texts.push(JSON.stringify(declared));
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
