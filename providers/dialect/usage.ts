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

/** Where OpenAI's answers and last chunks have them. */
const OPENAI = {
  input: "/usage/prompt_tokens",
  cached_input: "/usage/prompt_tokens_details/cached_tokens",
  output: "/usage/completion_tokens",
  reasoning: "/usage/completion_tokens_details/reasoning_tokens",
} as const;

export type UsageReader = (body: unknown) => TokenUsage | null;

/** Reads usage from wherever the declaration says that it is; null where there is none. */
export function usageReader(declared: UsageRules = {}): UsageReader {
  const input = pointers(declared.input ?? OPENAI.input);
  const cached = pointers(declared.cached_input ?? OPENAI.cached_input);
  const output = pointers(declared.output ?? OPENAI.output);
  const reasoning = pointers(declared.reasoning ?? OPENAI.reasoning);
  const withCached = declared.input_includes_cached ?? true;
  const withReasoning = declared.output_includes_reasoning ?? true;
  const counts = [input, cached, output, reasoning];

  return function readUsage(body) {
    const [read, written] = [countAt(body, input), countAt(body, output)];
    if (read === null && written === null) return null;
    // Beyond what can be counted, or below zero: such a report says nothing.
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

/** Takes the part out of the whole, so that no token is in two buckets. */
export function disjoint(
  counted: TokenUsage,
  inputIncludesCached: boolean,
  outputIncludesReasoning: boolean,
): TokenUsage {
  const { input, cachedInput, output, reasoning } = counted;
  return {
    // A part larger than its whole would be a provider's slip; it must not become a negative charge.
    input: inputIncludesCached ? Math.max(0, input - cachedInput) : input,
    cachedInput,
    output: outputIncludesReasoning ? Math.max(0, output - reasoning) : output,
    reasoning,
  };
}
