import type { ChatChunk, ChunkChoice, FinishReason } from "../../../upstream/adapter.ts";
import { CallQueue, type StreamedCall } from "../call_queue.ts";
import { CallItem } from "./call_item.ts";
import { MessageItem } from "./message_item.ts";
import type { DeclaredTools } from "./read_tools.ts";
import { ReasoningItem } from "./reasoning_item.ts";
import type { ReasoningBox } from "./reasoning_box.ts";

/**
 * Takes an event: its type, and its fields besides type and number. What comes with every token is given as JSON text
 * without braces, most of which is the same each time.
 */
export type Emit = (type: string, fields: object | string) => void;

/** An item of the output while it grows. */
export interface OpenItem {
  /** The item as it is now; complete after `end`. */
  readonly item: object;
  end(status: ItemStatus): void;
}

export type ItemStatus = "completed" | "incomplete";

/** Where an item is, for its events. */
export interface ItemPlace {
  readonly item_id: string;
  readonly output_index: number;
}

export interface OutputOptions {
  /** What the ids of all items have in common. */
  readonly base: string;
  readonly declared: DeclaredTools;
  /** Whether reasoning is shown in words. */
  readonly isSummaryShown: boolean;
  readonly box: ReasoningBox;
  readonly emit: Emit;
}

/** The id of an item tells its response and its place there. */
export function itemId(prefix: string, base: string, at: number): string {
  return `${prefix}_${base}${String(at).padStart(3, "0")}`;
}

/** Makes items of an answer, whole or in chunks, and tells each change as an event. */
export class OutputItems {
  readonly items: object[] = [];
  finish: FinishReason | null = null;
  readonly #calls = new CallQueue();
  #open: OpenItem | null = null;

  constructor(private readonly options: OutputOptions) {}

  add({ choices, thinking }: ChatChunk): void {
    if (thinking !== undefined) {
      const item = this.#reasoning();
      if ("signature" in thinking) item.sign(thinking.signature);
      else item.addRedacted(thinking.redacted);
    }
    for (const choice of choices) if (choice.index === 0) this.#choice(choice);
  }

  end(): void {
    for (const call of this.#calls.flush()) this.#call(call);
    this.#close(this.finish === "length" ? "incomplete" : "completed");
  }

  #choice({ delta, logprobs, finish_reason }: ChunkChoice): void {
    if (delta.reasoning_content) this.#reasoning().addText(delta.reasoning_content);
    if (delta.content) this.#text(delta.content, logprobs);
    if (delta.annotations !== undefined && this.#open instanceof MessageItem) {
      this.#open.addAnnotations(delta.annotations);
    }
    if (delta.refusal) this.#message().addDeclined(delta.refusal);
    for (const piece of delta.tool_calls ?? []) {
      for (const call of this.#calls.add(piece)) this.#call(call);
    }
    this.finish = finish_reason ?? this.finish;
  }

  #text(text: string, logprobs: unknown): void {
    if (text !== "") this.#message().addText(text, logprobs);
  }

  #reasoning(): ReasoningItem {
    if (this.#open instanceof ReasoningItem) return this.#open;
    return this.#begin("rs", (place) => new ReasoningItem(place, this.options));
  }

  #message(): MessageItem {
    if (this.#open instanceof MessageItem) return this.#open;
    return this.#begin("msg", (place) => new MessageItem(place, this.options.emit));
  }

  #call(call: StreamedCall): void {
    if (call.sent === call.written.length) return;
    const tool = this.options.declared.get(call.name) ?? { name: call.name, isCustom: false };
    const item = this.#open instanceof CallItem && this.#open.index === call.index
      ? this.#open
      : this.#begin(
        tool.isCustom ? "ctc" : "fc",
        (place) => new CallItem(place, call, tool, this.options.emit),
      );
    item.addArguments(call.written.slice(call.sent ?? 0));
    call.sent = call.written.length;
  }

  #begin<T extends OpenItem>(prefix: string, make: (place: ItemPlace) => T): T {
    this.#close("completed");
    const output_index = this.items.length;
    const made = make({ item_id: itemId(prefix, this.options.base, output_index), output_index });
    this.#open = made;
    this.items.push(made.item);
    this.options.emit("response.output_item.added", { output_index, item: made.item });
    return made;
  }

  #close(status: ItemStatus): void {
    if (this.#open === null) return;
    this.#open.end(status);
    const output_index = this.items.length - 1;
    this.options.emit("response.output_item.done", { output_index, item: this.#open.item });
    this.#open = null;
  }
}
