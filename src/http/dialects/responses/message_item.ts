import type { Annotation } from "../../../upstream/adapter.ts";
import type { Emit, ItemPlace, ItemStatus, OpenItem } from "./output_items.ts";

interface TextContent {
  readonly type: "output_text";
  text: string;
  readonly annotations: unknown[];
  readonly logprobs: unknown[];
}

interface DeclinedContent {
  readonly type: "refusal";
  refusal: string;
}

/** What the model says. */
export class MessageItem implements OpenItem {
  readonly item: {
    id: string;
    type: "message";
    status: "in_progress" | ItemStatus;
    role: "assistant";
    content: (TextContent | DeclinedContent)[];
  };

  /** JSON of the fields that all events of the open part have. */
  #fixed = "";

  constructor(private readonly place: ItemPlace, private readonly emit: Emit) {
    const { item_id: id } = place;
    this.item = { id, type: "message", status: "in_progress", role: "assistant", content: [] };
  }

  addText(delta: string, given: unknown): void {
    const last = this.item.content.at(-1);
    const part = last?.type === "output_text"
      ? last
      : this.#begin<TextContent>({ type: "output_text", text: "", annotations: [], logprobs: [] });
    const logprobs = logprobsIn(given);
    part.text += delta;
    part.logprobs.push(...logprobs);
    const shown = logprobs.length === 0 ? "[]" : JSON.stringify(logprobs);
    this.emit(
      "response.output_text.delta",
      `${this.#fixed},"delta":${JSON.stringify(delta)},"logprobs":${shown}`,
    );
  }

  /** Sources of the text so far. */
  addAnnotations(given: readonly Annotation[]): void {
    const part = this.item.content.at(-1);
    if (part?.type !== "output_text") return;
    for (const { type, url_citation } of given) {
      const annotation = { type, ...url_citation };
      part.annotations.push(annotation);
      const annotation_index = part.annotations.length - 1;
      this.#emit("response.output_text.annotation.added", { annotation_index, annotation });
    }
  }

  addDeclined(delta: string): void {
    const last = this.item.content.at(-1);
    const part = last?.type === "refusal"
      ? last
      : this.#begin<DeclinedContent>({ type: "refusal", refusal: "" });
    part.refusal += delta;
    this.#emit("response.refusal.delta", { delta });
  }

  end(status: ItemStatus): void {
    this.#endPart();
    this.item.status = status;
  }

  #begin<T extends TextContent | DeclinedContent>(part: T): T {
    this.#endPart();
    this.item.content.push(part);
    const content_index = this.item.content.length - 1;
    this.#fixed = JSON.stringify({ ...this.place, content_index }).slice(1, -1);
    this.#emit("response.content_part.added", { part });
    return part;
  }

  #endPart(): void {
    const part = this.item.content.at(-1);
    if (part === undefined) return;
    if (part.type === "output_text") {
      this.#emit("response.output_text.done", { text: part.text, logprobs: part.logprobs });
    } else this.#emit("response.refusal.done", { refusal: part.refusal });
    this.#emit("response.content_part.done", { part });
  }

  #emit(type: string, fields: object): void {
    this.emit(type, { ...this.place, content_index: this.item.content.length - 1, ...fields });
  }
}

function logprobsIn(given: unknown): unknown[] {
  const content = (given as { content?: unknown } | null | undefined)?.content;
  return Array.isArray(content) ? content : [];
}
