import type { ChatRequest, UpstreamTarget } from "../../src/upstream/adapter.ts";
import { compact, count, type Json } from "../dialect/json.ts";
import * as parameters from "../dialect/parameters.ts";
import { refuse } from "../dialect/write.ts";
import { generationOf } from "./model.ts";

const CANDIDATES_MAX = 8;

/** `generationConfig` of a request; undefined where the request changes no default. */
export function generationConfig(
  request: ChatRequest,
  { model }: UpstreamTarget,
): Json | undefined {
  const format = parameters.formatOf(request);
  const config = compact({
    maxOutputTokens: parameters.outputLimit(request) ?? undefined,
    temperature: parameters.number(request.temperature),
    topP: parameters.number(request.top_p),
    topK: parameters.number(request.top_k),
    seed: parameters.number(request.seed),
    presencePenalty: penalty(request.presence_penalty),
    frequencyPenalty: penalty(request.frequency_penalty),
    stopSequences: parameters.stopTexts(request),
    candidateCount: candidates(request),
    responseMimeType: format === "text" ? undefined : "application/json",
    responseJsonSchema: typeof format === "object" ? format.schema : undefined,
    responseLogprobs: request.logprobs === true ? true : undefined,
    logprobs: request.logprobs === true ? count(request.top_logprobs) ?? undefined : undefined,
    thinkingConfig: thinkingConfig(request, model),
  });
  return Object.keys(config).length > 0 ? config : undefined;
}

/** A penalty of 0 is left out: models without penalties reject the field. */
function penalty(value: unknown): number | undefined {
  return value === 0 ? undefined : parameters.number(value);
}

function candidates(request: ChatRequest): number | undefined {
  const wanted = parameters.number(request.n);
  if (wanted === undefined || wanted === 1) return undefined;
  if (wanted > CANDIDATES_MAX) refuse("n", `This model gives at most ${CANDIDATES_MAX} answers.`);
  return wanted;
}

const BUDGETS: Readonly<Record<parameters.Effort, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24576,
  xhigh: 24576,
  max: 24576,
};

/** Thinking cannot be switched off for the larger models. */
const BUDGET_MIN_OF_PRO = 128;

const LEVELS: Readonly<Record<parameters.Effort, string>> = {
  none: "minimal",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
};

function thinkingConfig(request: ChatRequest, model: string): Json | undefined {
  const effort = parameters.effortOf(request);
  const generation = generationOf(model);
  if (effort === null || LEVELS[effort] === undefined || generation === "thoughtless") {
    return undefined;
  }
  const isPro = model.includes("-pro");
  const includeThoughts = effort === "none" ? undefined : true;
  if (generation === "budgets") {
    const thinkingBudget = Math.max(BUDGETS[effort], isPro ? BUDGET_MIN_OF_PRO : 0);
    return compact({ thinkingBudget, includeThoughts });
  }
  const level = LEVELS[effort];
  const thinkingLevel = isPro && level === "minimal" ? "low" : level;
  return compact({ thinkingLevel, includeThoughts });
}
