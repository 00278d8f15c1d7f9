import type { ModelEntry, ModelLimitsEntry } from "../../../platform/config/gateway_file.ts";
import type { LitellmFields } from "../read_litellm.ts";

/** What a model is and can do. */
export interface ImportedFacts {
  readonly type: "chat" | "embedding";
  readonly capabilities: ModelEntry["capabilities"];
  readonly limits: ModelLimitsEntry;
}

const CHAT_MODES = new Set(["chat", "completion", "responses"]);
const EMBEDDING_NAME = /embed|(?:^|\/)(?:bge|e5|gte|m3e)-/i;
/** The greatest values that a configuration takes. */
const LIMITS_MAX = {
  context_tokens: 100_000_000,
  max_output_tokens: 100_000_000,
  max_input_tokens: 10_000_000,
  max_dimensions: 65_536,
} as const;
type Limit = keyof typeof LIMITS_MAX;

/** Fields by which LiteLLM tells what a chat model can do. */
const FLAGS = {
  vision: "supports_vision",
  tools: "supports_function_calling",
  json_schema: "supports_response_schema",
  reasoning: "supports_reasoning",
} as const;
/** What few models can do is not assumed of a model that is not known. */
const RARE_FLAGS = { files: "supports_pdf_input", audio_input: "supports_audio_input" } as const;

/** LiteLLM's mode of a model, by its name where the fields do not say it. */
export function modeOf(fields: LitellmFields, name: string): string {
  if (typeof fields.mode === "string") return fields.mode;
  return EMBEDDING_NAME.test(name) ? "embedding" : "chat";
}

/** Null for a model that is neither for chat nor for embeddings: only the operator knows its sizes, voices and durations. */
export function readModelFacts(
  fields: LitellmFields,
  { name, isListed }: { name: string; isListed: boolean },
): ImportedFacts | null {
  const mode = modeOf(fields, name);
  if (mode === "embedding") {
    const limits = limitsOf(fields, {
      max_input_tokens: ["max_input_tokens", "max_tokens"],
      max_dimensions: ["output_vector_size"],
    });
    return { type: "embedding", capabilities: ["embeddings"], limits };
  }
  if (!CHAT_MODES.has(mode)) return null;
  return {
    type: "chat",
    capabilities: capabilitiesOf(fields, isListed),
    limits: chatLimits(fields),
  };
}

/** A list that knows the model names what it can do. Of another model everything is assumed: its provider refuses the rest. */
function capabilitiesOf(fields: LitellmFields, isListed: boolean): ModelEntry["capabilities"] {
  const has = (flag: string) => fields[flag] === true || (!isListed && fields[flag] !== false);
  const usual = Object.entries(FLAGS).filter(([, flag]) => has(flag));
  const rare = Object.entries(RARE_FLAGS).filter(([, flag]) => fields[flag] === true);
  const names = [...usual, ...rare].map(([name]) => name);
  return ["chat", "streaming", ...names] as ModelEntry["capabilities"];
}

function chatLimits(fields: LitellmFields): ModelLimitsEntry {
  const { context_tokens, ...limits } = limitsOf(fields, {
    context_tokens: ["max_input_tokens"],
    max_output_tokens: ["max_output_tokens", "max_tokens"],
  });
  // A context smaller than the answer is a mistake of the list.
  const isUsable = context_tokens !== undefined &&
    context_tokens >= (limits.max_output_tokens ?? 0);
  return isUsable ? { context_tokens, ...limits } : limits;
}

function limitsOf(
  fields: LitellmFields,
  names: Readonly<Partial<Record<Limit, readonly string[]>>>,
): ModelLimitsEntry {
  const found = Object.entries(names).flatMap(([ours, theirs]) => {
    const value = theirs.map((name) => fields[name]).find((each) => isLimit(ours as Limit, each));
    return value === undefined ? [] : [[ours, value]];
  });
  return Object.fromEntries(found);
}

function isLimit(name: Limit, value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= LIMITS_MAX[name];
}
