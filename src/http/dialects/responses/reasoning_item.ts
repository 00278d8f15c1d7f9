import type { ItemPlace, OpenItem, OutputOptions } from "./output_items.ts";
import type { ReasoningPart } from "./reasoning_box.ts";

interface SummaryPart {
  readonly type: "summary_text";
  text: string;
}

/** Reasoning: in words where the client asks for a summary, and always sealed, to be sent back. */
export class ReasoningItem implements OpenItem {
  readonly item: {
    id: string;
    type: "reasoning";
    summary: SummaryPart[];
    encrypted_content?: string;
  };
  readonly #parts: ReasoningPart[] = [];
  #text = "";
  /** The part of the summary that grows. */
  #summary: SummaryPart | null = null;

  constructor(
    private readonly place: ItemPlace,
    private readonly options: Pick<OutputOptions, "box" | "isSummaryShown" | "emit">,
  ) {
    this.item = { id: place.item_id, type: "reasoning", summary: [] };
  }

  addText(text: string): void {
    this.#text += text;
    if (!this.options.isSummaryShown) return;
    if (this.#summary === null) {
      this.#summary = { type: "summary_text", text: "" };
      this.item.summary.push(this.#summary);
      this.#emit("part.added", { part: { ...this.#summary } });
    }
    this.#summary.text += text;
    this.#emit("text.delta", { delta: text });
  }

  sign(signature: string): void {
    this.#endPart(signature);
  }

  addRedacted(data: string): void {
    this.#endPart(undefined);
    this.#parts.push({ type: "redacted_thinking", data });
  }

  end(): void {
    this.#endPart(undefined);
    if (this.#parts.length > 0) this.item.encrypted_content = this.options.box.close(this.#parts);
  }

  #endPart(signature: string | undefined): void {
    if (this.#text !== "" || signature !== undefined) {
      const part = { type: "thinking" as const, thinking: this.#text };
      this.#parts.push(signature === undefined ? part : { ...part, signature });
    }
    this.#text = "";
    if (this.#summary === null) return;
    const { text } = this.#summary;
    this.#emit("text.done", { text });
    this.#emit("part.done", { part: { ...this.#summary } });
    this.#summary = null;
  }

  #emit(what: string, fields: object): void {
    this.options.emit(`response.reasoning_summary_${what}`, {
      ...this.place,
      summary_index: this.item.summary.length - 1,
      ...fields,
    });
  }
}
