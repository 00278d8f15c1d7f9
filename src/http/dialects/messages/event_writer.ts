import type { ApiError } from "../../../lib/api_error.ts";
import type {
  ChatChunk,
  ChunkDelta,
  FinishReason,
  ReportedUsage,
} from "../../../upstream/adapter.ts";
import type { AnswerWriter, Heading } from "../../../workflows/chat/dialect.ts";
import { messagesUsage, stopOf } from "./answer_blocks.ts";
import { CallQueue, type StreamedCall } from "../call_queue.ts";
import { messagesErrorBody } from "./error.ts";
import { messageHead } from "./message_head.ts";

/** The block that grows: text, thinking, or the tool call of this index. */
type OpenBlock = "text" | "thinking" | number;

const NO_TOKENS: ReportedUsage = { input: 0, cachedInput: 0, output: 0, reasoning: 0 };

function event(type: string, more: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
}

/** Writes an answer as events of Anthropic's Messages API. */
export class MessageEvents implements AnswerWriter {
  readonly heartbeat = event("ping", {});
  readonly #calls = new CallQueue();
  #hasStarted = false;
  #open: OpenBlock | null = null;
  /** Index of the open block, and after its end of the last one. */
  #block = -1;
  #finish: FinishReason | null = null;
  #stopSequence: string | undefined;

  constructor(private readonly heading: Heading, private readonly isThinkingShown: boolean) {}

  chunk(chunk: ChatChunk): string {
    let text = this.#hasStarted ? "" : this.#start(chunk.usage ?? NO_TOKENS);
    if (chunk.stopSequence !== undefined) this.#stopSequence = chunk.stopSequence;
    if (chunk.thinking !== undefined && this.isThinkingShown) text += this.#seal(chunk.thinking);
    for (const { index, delta, finish_reason } of chunk.choices) {
      if (index !== 0) continue;
      text += this.#grow(delta);
      this.#finish = finish_reason ?? this.#finish;
    }
    return text;
  }

  end(usage: ReportedUsage): string {
    let text = this.#hasStarted ? "" : this.#start(usage);
    for (const call of this.#calls.flush()) text += this.#call(call);
    text += this.#close();
    const delta = stopOf(this.#finish, this.#stopSequence);
    text += event("message_delta", { delta, usage: messagesUsage(usage) });
    return text + event("message_stop", {});
  }

  fail(apiError: ApiError): string {
    const { requestId } = this.heading;
    return `event: error\ndata: ${JSON.stringify(messagesErrorBody(apiError, requestId))}\n\n`;
  }

  #start(usage: ReportedUsage): string {
    this.#hasStarted = true;
    const message = {
      ...messageHead(this.heading),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: messagesUsage(usage),
    };
    return event("message_start", { message }) + this.heartbeat;
  }

  #grow({ reasoning_content, content, refusal, tool_calls }: ChunkDelta): string {
    let text = "";
    if (reasoning_content && this.isThinkingShown) {
      text += this.#begin("thinking", { type: "thinking", thinking: "", signature: "" });
      text += this.#delta({ type: "thinking_delta", thinking: reasoning_content });
    }
    for (const said of [content, refusal]) {
      if (!said) continue;
      text += this.#begin("text", { type: "text", text: "" });
      text += this.#delta({ type: "text_delta", text: said });
    }
    for (const piece of tool_calls ?? []) {
      for (const call of this.#calls.add(piece)) text += this.#call(call);
    }
    return text;
  }

  #call(call: StreamedCall): string {
    const { index, id, name, written, sent } = call;
    if (sent === written.length) return "";
    call.sent = written.length;
    const text = this.#begin(index, { type: "tool_use", id, name, input: {} });
    if (written === "") return text;
    const partial_json = written.slice(sent ?? 0);
    return text + this.#delta({ type: "input_json_delta", partial_json });
  }

  /** A signature ends its block; redacted thinking is a block of its own. */
  #seal(thinking: NonNullable<ChatChunk["thinking"]>): string {
    if ("redacted" in thinking) {
      const block = { type: "redacted_thinking", data: thinking.redacted };
      const begun = this.#close() + this.#begin("thinking", block);
      return begun + this.#close();
    }
    const begun = this.#begin("thinking", { type: "thinking", thinking: "", signature: "" });
    const { signature } = thinking;
    return begun + this.#delta({ type: "signature_delta", signature }) + this.#close();
  }

  /** Opens a block unless it is the open one. */
  #begin(block: OpenBlock, content_block: object): string {
    if (this.#open === block) return "";
    const closed = this.#close();
    this.#open = block;
    this.#block++;
    return closed + event("content_block_start", { index: this.#block, content_block });
  }

  #delta(delta: object): string {
    return event("content_block_delta", { index: this.#block, delta });
  }

  #close(): string {
    if (this.#open === null) return "";
    this.#open = null;
    return event("content_block_stop", { index: this.#block });
  }
}
