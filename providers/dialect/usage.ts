import type { TokenUsage } from "../../src/upstream/adapter.ts";
import { countAt, follow, type Pointer, pointers } from "./pointer.ts";

export interface UsageRules {
  readonly input?: string | readonly string[];
  readonly cached_input?: string | readonly string[];
  readonly output?: string | readonly string[];
  readonly reasoning?: string | readonly string[];
  readonly input_includes_cached?: boolean;
  readonly output_includes_reasoning?: boolean;
}

/** Places of the counts in OpenAI's answers and last chunks. */
const OPENAI = {
  input: "/usage/prompt_tokens",
  cached_input: "/usage/prompt_tokens_details/cached_tokens",
  output: "/usage/completion_tokens",
  reasoning: "/usage/completion_tokens_details/reasoning_tokens",
} as const;

export type UsageReader = (body: unknown) => TokenUsage | null;

/** Reads usage from the places that the provider's file names; null where there is none. */
export function usageReader(rules: UsageRules = {}): UsageReader {
  const input = pointers(rules.input ?? OPENAI.input);
  const cached = pointers(rules.cached_input ?? OPENAI.cached_input);
  const output = pointers(rules.output ?? OPENAI.output);
  const reasoning = pointers(rules.reasoning ?? OPENAI.reasoning);
  const withCached = rules.input_includes_cached ?? true;
  const withReasoning = rules.output_includes_reasoning ?? true;
  const counts = [input, cached, output, reasoning];

  return function readUsage(body) {
    const [read, written] = [countAt(body, input), countAt(body, output)];
    if (read === null && written === null) return null;
    // A count that is negative or not a safe integer makes the whole report unusable.
    if (counts.some((paths) => countAt(body, paths) === null && holdsNumber(body, paths))) {
      return null;
    }
    return disjoint(
      {
        input: read ?? 0,
        cachedInput: countAt(body, cached) ?? 0,
        output: written ?? 0,
        reasoning: countAt(body, reasoning) ?? 0,
      },
      withCached,
      withReasoning,
    );
  };
}

function holdsNumber(body: unknown, paths: readonly Pointer[]): boolean {
  return paths.some((path) => typeof follow(body, path) === "number");
}

/** Subtracts cached and reasoning tokens from the totals, so that no token is counted twice. */
export function disjoint(
  counted: TokenUsage,
  inputIncludesCached: boolean,
  outputIncludesReasoning: boolean,
): TokenUsage {
  const { input, cachedInput, output, reasoning } = counted;
  return {
    // A part that is larger than its total is an error of the provider; it must not make a charge negative.
    input: inputIncludesCached ? Math.max(0, input - cachedInput) : input,
    cachedInput,
    output: outputIncludesReasoning ? Math.max(0, output - reasoning) : output,
    reasoning,
  };
}
