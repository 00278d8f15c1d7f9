import { type JsonFields, objectAt } from "./translated.ts";

/** Budgets in words, for providers that take words only. */
const LOW_MAX = 4_096;
const MEDIUM_MAX = 16_384;

/** What a request asks of the model's reasoning, as the engine takes it. */
export interface ReadReasoning {
  readonly request: JsonFields;
  /** Names of fields that were left out. */
  readonly ignored: readonly string[];
}

/**
 * Anthropic's `thinking`, with a level of effort beside it, which has another name in each dialect. Clients ask every
 * model for thinking: one that does not reason answers without.
 */
export function readReasoning(
  thinking: unknown,
  effort: { readonly name: string; readonly value: unknown },
  reasons: boolean,
): ReadReasoning {
  const asked = thinking === undefined || thinking === null ? null : objectAt(thinking, "thinking");
  const isEffort = typeof effort.value === "string";
  if (!reasons) {
    const isThinking = asked !== null && asked.type !== "disabled";
    return {
      request: {},
      ignored: [...(isThinking ? ["thinking"] : []), ...(isEffort ? [effort.name] : [])],
    };
  }
  const budget = asked?.type === "enabled" ? asked.budget_tokens : undefined;
  const word = isEffort ? effort.value : typeof budget === "number" ? effortFor(budget) : undefined;
  return {
    request: {
      ...(asked === null ? {} : { thinking: asked }),
      ...(word === undefined ? {} : { reasoning_effort: word }),
    },
    ignored: [],
  };
}

function effortFor(budget: number): string {
  if (budget <= LOW_MAX) return "low";
  return budget <= MEDIUM_MAX ? "medium" : "high";
}
