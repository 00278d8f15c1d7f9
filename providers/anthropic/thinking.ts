import type { ChatRequest } from "../../src/upstream/adapter.ts";
import type { Turn } from "../dialect/conversation.ts";
import { count, type Json, record, text } from "../dialect/json.ts";
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
  const asked = record(request.thinking);
  const named = effortOf(request);
  const effort = named !== null && named !== "none" && EFFORTS[named] !== undefined ? named : null;
  const isAsked = asked === null ? effort !== null : asked.type !== "disabled";
  if (WITHOUT_THINKING.test(model)) return {};
  // The provider rejects thinking together with a forced tool call.
  const isForced = use !== null && use.choice === "required";
  if (!BUDGETED.test(model)) {
    const level = effort === null ? {} : { effort: levelOf(effort, model) };
    if (isForced || !isAsked) return level;
    return {
      thinking: { type: "adaptive", display: text(asked?.display) ?? "summarized" },
      ...level,
    };
  }
  if (!isAsked || isForced || continuesUnsigned(turns)) return {};
  const wanted = count(asked?.budget_tokens) ?? BUDGETS[effort ?? "medium"];
  const budget = Math.min(wanted, maxTokens - BUDGET_MIN);
  return budget < BUDGET_MIN ? {} : { thinking: { type: "enabled", budget_tokens: budget } };
}

/** The first generation with effort has no level above high. */
function levelOf(effort: Exclude<Effort, "none">, model: string): string {
  const isAbove = effort === "xhigh" || effort === "max";
  return isAbove && model.includes("-4-6") ? "high" : EFFORTS[effort];
}

/**
 * With a budget, a turn that called tools must be sent back with its signed thinking, which an OpenAI client
 * does not have: such a turn continues without thinking.
 */
function continuesUnsigned(turns: readonly Turn[]): boolean {
  const isContinued = turns.at(-1)?.parts.some(({ kind }) => kind === "result") ?? false;
  if (!isContinued) return false;
  const called = turns.at(-2)?.parts ?? [];
  return !called.some((part) =>
    part.kind === "redacted" || part.kind === "thinking" && part.signature !== null
  );
}
