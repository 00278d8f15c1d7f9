import type { ChatRequest } from "../../src/upstream/adapter.ts";
import type { Turn } from "../dialect/conversation.ts";
import type { Json } from "../dialect/json.ts";
import { type Effort, effortOf, type ToolUse } from "../dialect/parameters.ts";

export interface Thinking {
  readonly thinking?: Json;
  readonly effort?: string;
}

export interface ThinkingOptions {
  readonly turns: readonly Turn[];
  readonly use: ToolUse | null;
  /** The limit of output tokens, which thinking and the answer share. */
  readonly maxTokens: number;
}

/** Models without thinking. */
const WITHOUT_THINKING = /claude-(?:instant|[12]\b|3(?!-7))/;
/** Models up to 4.5 get a budget of thinking tokens; later models get a level of effort. */
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

/** The minimum budget, and the minimum of output tokens left for the answer. */
const BUDGET_MIN = 1024;

/** The request's thinking parameters; none where the client asks for none or the model does not support them. */
export function thinkingOf(
  request: ChatRequest,
  model: string,
  { turns, use, maxTokens }: ThinkingOptions,
): Thinking {
  const effort = effortOf(request);
  if (effort === null || effort === "none" || EFFORTS[effort] === undefined) return {};
  if (WITHOUT_THINKING.test(model)) return {};
  // The provider rejects thinking together with a forced tool call.
  const isForced = use !== null && use.choice === "required";
  if (!BUDGETED.test(model)) {
    // The first generation with effort has no level above high.
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
 * With a budget, a turn that called tools must be sent back with its signed thinking, which an OpenAI client
 * does not have: such a turn continues without thinking.
 */
function answersTools(turns: readonly Turn[]): boolean {
  return turns.at(-1)?.parts.some(({ kind }) => kind === "result") ?? false;
}
