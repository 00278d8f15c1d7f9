import type { ResponsesRequest } from "../../../../schemas/requests.ts";
import type { ApiError } from "../../../lib/api_error.ts";
import type {
  ChatChunk,
  ChatMessage,
  ChatReply,
  ReportedUsage,
} from "../../../upstream/adapter.ts";
import type { AnswerWriter, ChatDialect, Heading } from "../../../workflows/chat/dialect.ts";
import type { JsonFields } from "../translated.ts";
import { type Emit, OutputItems } from "./output_items.ts";
import type { DeclaredTools } from "./read_tools.ts";
import type { ReasoningBox } from "./reasoning_box.ts";
import {
  baseOf,
  echoedFields,
  endOf,
  IN_PROGRESS,
  type Progress,
  toClientItems,
} from "./response_object.ts";

/** One response as it is made. */
export interface ResponseOptions {
  readonly body: ResponsesRequest;
  readonly declared: DeclaredTools;
  readonly box: ReasoningBox;
  /** Keeps the response for later requests; absent where the client does not want that. */
  readonly save?: ((response: JsonFields) => Promise<void>) | undefined;
}

/** OpenAI's Responses API. */
export function responsesDialect(options: ResponseOptions): ChatDialect {
  return {
    renderAnswer: (heading, reply, usage) => renderResponse(options, heading, reply, usage),
    openStream: (heading) => new ResponseEvents(options, heading),
  };
}

/** Whether the client wants reasoning in a form that it can send back itself. */
export function asksForEncrypted({ include }: ResponsesRequest): boolean {
  return Array.isArray(include) && include.includes("reasoning.encrypted_content");
}

function openItems({ body, declared, box }: ResponseOptions, heading: Heading, emit: Emit) {
  const { summary, generate_summary } = (body.reasoning ?? {}) as JsonFields;
  const isSummaryShown = typeof (summary ?? generate_summary) === "string";
  return new OutputItems({ base: baseOf(heading), declared, isSummaryShown, box, emit });
}

async function renderResponse(
  options: ResponseOptions,
  heading: Heading,
  { choices: [choice] }: ChatReply,
  usage: ReportedUsage,
): Promise<string> {
  const items = openItems(options, heading, () => {});
  const { message, finish_reason, logprobs } = choice!;
  for (const chunk of chunksOf(message, logprobs)) items.add(chunk);
  items.finish = finish_reason;
  items.end();
  const head = echoedFields(heading, options.body);
  const end = endOf(items.finish, items.items, usage);
  await options.save?.({ ...head, ...end });
  return JSON.stringify({ ...head, ...toClientProgress(options, end) });
}

function toClientProgress({ body }: ResponseOptions, progress: Progress): Progress {
  return { ...progress, output: toClientItems(progress.output, asksForEncrypted(body)) };
}

/** A whole answer as what it would have been in a stream. */
function* chunksOf(message: ChatMessage, logprobs: unknown): Generator<ChatChunk> {
  const delta = (delta: ChatChunk["choices"][number]["delta"], logprobs?: unknown): ChatChunk => ({
    choices: [{ index: 0, delta, finish_reason: null, logprobs }],
  });
  const { reasoning_content, content, refusal, annotations, tool_calls } = message;
  if (message.parts !== undefined) {
    for (const part of message.parts) {
      if (part.type === "text") yield delta({ content: part.text });
      else if (part.type === "redacted_thinking") {
        yield { choices: [], thinking: { redacted: part.data } };
      } else {
        yield delta({ reasoning_content: part.thinking });
        const { signature } = part;
        if (signature !== undefined) yield { choices: [], thinking: { signature } };
      }
    }
  } else {
    if (reasoning_content) yield delta({ reasoning_content });
    if (content) yield delta({ content }, logprobs);
  }
  if (annotations !== undefined) yield delta({ annotations });
  if (refusal) yield delta({ refusal });
  yield delta({ tool_calls: (tool_calls ?? []).map((call, index) => ({ index, ...call })) });
}

/** Writes an answer as events, numbered from 0. */
class ResponseEvents implements AnswerWriter {
  readonly heartbeat = ": still here\n\n";
  readonly #head: JsonFields;
  readonly #items: OutputItems;
  #text = "";
  #number = 0;

  constructor(private readonly options: ResponseOptions, heading: Heading) {
    this.#head = echoedFields(heading, options.body);
    this.#items = openItems(options, heading, (type, fields) => this.#emit(type, fields));
    this.#emit("response.created", { response: { ...this.#head, ...IN_PROGRESS } });
    this.#emit("response.in_progress", { response: { ...this.#head, ...IN_PROGRESS } });
  }

  chunk(chunk: ChatChunk): string {
    this.#items.add(chunk);
    return this.#take();
  }

  async end(usage: ReportedUsage): Promise<string> {
    this.#items.end();
    const end = endOf(this.#items.finish, this.#items.items, usage);
    // Kept before the client knows that it is complete: its next request may continue it at once.
    await this.options.save?.({ ...this.#head, ...end });
    this.#emit(`response.${end.status}`, {
      response: { ...this.#head, ...toClientProgress(this.options, end) },
    });
    return this.#take();
  }

  fail({ message }: ApiError): string {
    const error = { code: "server_error", message };
    const output = this.#items.items;
    const failed = toClientProgress(this.options, {
      ...IN_PROGRESS,
      status: "failed",
      error,
      output,
    });
    this.#emit("response.failed", { response: { ...this.#head, ...failed } });
    return this.#take();
  }

  #emit(type: string, fields: object | string): void {
    if (typeof fields === "string") {
      const number = this.#number++;
      this.#text +=
        `event: ${type}\ndata: {"type":"${type}","sequence_number":${number},${fields}}\n\n`;
      return;
    }
    const fieldsForClient = "item" in fields
      ? {
        ...fields,
        item: toClientItems([fields.item as object], asksForEncrypted(this.options.body))[0],
      }
      : fields;
    const data = JSON.stringify({ type, sequence_number: this.#number++, ...fieldsForClient });
    this.#text += `event: ${type}\ndata: ${data}\n\n`;
  }

  #take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}
