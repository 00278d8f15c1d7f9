import { countTokens } from "../base/count_tokens.ts";
import type { Usage } from "../pricing/usage.ts";
import type { ChatChunk, ChatReply, ChatRequest, TokenUsage } from "../upstream/adapter.ts";

/** Tokens of an answer, by the provider's count where it gave one and by ours where it did not. */
export interface Metered {
  tokens: TokenUsage;
  isEstimated: boolean;
}

/** Follows an answer and knows at any moment what it has used. */
export class Meter {
  readonly #produced: string[] = [];
  #characters = 0;
  #told: TokenUsage | null = null;

  constructor(private readonly request: ChatRequest) {}

  /** Usage counts from whichever event has it, also on answers that ended early; the last one holds. */
  add(chunk: ChatChunk): void {
    if (chunk.usage !== undefined) this.#told = chunk.usage;
    for (const { delta } of chunk.choices) {
      if (delta.content) this.#keep(delta.content);
      if (delta.reasoning_content) this.#keep(delta.reasoning_content);
      if (delta.refusal) this.#keep(delta.refusal);
      for (const { function: call } of delta.tool_calls ?? []) {
        if (call?.name) this.#keep(call.name);
        if (call?.arguments) this.#keep(call.arguments);
      }
    }
  }

  addReply({ choices, usage }: ChatReply): void {
    if (usage !== null) this.#told = usage;
    for (const { message } of choices) {
      for (const text of [message.content, message.reasoning_content, message.refusal]) {
        if (text) this.#keep(text);
      }
      for (const { function: call } of message.tool_calls ?? []) {
        this.#keep(call.name + call.arguments);
      }
    }
  }

  /** A quick guess for the record that a crash would leave behind. */
  soFar(): Metered {
    if (this.#told !== null) return { tokens: this.#told, isEstimated: false };
    const input = Math.ceil(promptText(this.request).length / 4);
    return {
      tokens: { input, cachedInput: 0, output: Math.ceil(this.#characters / 4), reasoning: 0 },
      isEstimated: true,
    };
  }

  /** The count that is charged. */
  async total(): Promise<Metered> {
    if (this.#told !== null) return { tokens: this.#told, isEstimated: false };
    const tokens = {
      input: await countTokens(promptText(this.request)),
      cachedInput: 0,
      output: await countTokens(this.#produced.join("")),
      reasoning: 0,
    };
    return { tokens, isEstimated: true };
  }

  #keep(text: string): void {
    this.#produced.push(text);
    this.#characters += text.length;
  }
}

/** What a request is priced by. */
export function usageOf({ tokens, isEstimated }: Metered): Usage {
  return {
    input_tokens: tokens.input,
    cached_input_tokens: tokens.cachedInput,
    output_tokens: tokens.output,
    reasoning_tokens: tokens.reasoning,
    calls: 1,
    ...(isEstimated ? { estimated: true } : {}),
  };
}

function promptText({ messages, tools }: ChatRequest): string {
  const texts: string[] = tools === undefined ? [] : [JSON.stringify(tools)];
  for (const { role, content } of messages) {
    texts.push(String(role));
    for (const part of Array.isArray(content) ? content : [content]) {
      if (typeof part === "string") texts.push(part);
      else if (typeof part?.text === "string") texts.push(part.text);
    }
  }
  return texts.join("\n");
}
