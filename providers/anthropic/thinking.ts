import type { ChatRequest } from "../../src/upstream/adapter.ts";
import type { Turn } from "../dialect/conversation.ts";
import type { Json } from "../dialect/json.ts";
import { type Effort, effortOf, type ToolUse } from "../dialect/parameters.ts";

export interface Thinking {
  readonly thinking?: Json;
  readonly effort?: string;
}

/** Models from before thinking. */
const THOUGHTLESS = /claude-(?:instant|[12]\b|3(?!-7))/;
/** Models up to 4.5 are given a number of tokens; later ones decide themselves, by effort. */
const BUDGETED = /claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[015])?(?:-\d{8}|$))/;

const EFFORTS: Readonly<Record<Exclude<Effort, "none">, string>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};

const BUDGETS: Readonly<Record<Exclude<Effort, "none">, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24576,
  xhigh: 32768,
  max: 65536,
};

/** The least budget there is, and what the answer keeps of the limit that both share. */
const BUDGET_MIN = 1024;

/** How much the model is to think; nothing where the client asked for nothing or it cannot be. */
export function thinkingOf(
  request: ChatRequest,
  model: string,
  turns: readonly Turn[],
  use: ToolUse | null,
  maxTokens: number,
): Thinking {
  const effort = effortOf(request);
  if (effort === null || effort === "none" || EFFORTS[effort] === undefined) return {};
  if (THOUGHTLESS.test(model)) return {};
  // A call that is forced leaves no room for thoughts: the two are refused together.
  const isForced = use !== null && use.choice === "required";
  if (!BUDGETED.test(model)) {
    // The first generation of these knows no level above high.
    const isAbove = effort === "xhigh" || effort === "max";
    const level = isAbove && model.includes("-4-6") ? "high" : EFFORTS[effort];
    const thinking = { type: "adaptive", display: "summarized" };
    return isForced ? { effort: level } : { thinking, effort: level };
  }
  const budget = Math.min(BUDGETS[effort], maxTokens - BUDGET_MIN);
  if (isForced || budget < BUDGET_MIN || answersTools(turns)) return {};
  return { thinking: { type: "enabled", budget_tokens: budget } };
}

/**
 * With a budget, a turn that called tools must come back with its signed thoughts, which a client of
 * OpenAI's shape does not have: such a turn is continued without thinking.
 */
function answersTools(turns: readonly Turn[]): boolean {
  return turns.at(-1)?.parts.some(({ kind }) => kind === "result") ?? false;
}
