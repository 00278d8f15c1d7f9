import type { AnswerPart } from "../../../upstream/adapter.ts";
import type { ThinkingSeals } from "../../../upstream/thinking_seals.ts";

export type ReasoningPart = Exclude<AnswerPart, { type: "text" }>;

/** In place of an upstream: the text is ours, and each signature in it is sealed for its own upstream already. */
const ORIGIN = "reasoning item";

/** Reasoning as `encrypted_content`: clients send it back as it is. */
export interface ReasoningBox {
  close(parts: readonly ReasoningPart[]): string;
  /** Null for what was not closed here. */
  open(content: string): readonly ReasoningPart[] | null;
}

export function openReasoningBox(seals: ThinkingSeals): ReasoningBox {
  return {
    close: (parts) => seals.show(JSON.stringify(parts), ORIGIN),
    open(content) {
      const text = seals.restore(content, ORIGIN);
      return text === null ? null : JSON.parse(text);
    },
  };
}
