import type { ReportedUsage } from "../../src/upstream/adapter.ts";
import { countAt, follow, type Pointer, pointers } from "./pointer.ts";

export interface UsageRules {
  readonly input?: Places;
  readonly cached_input?: Places;
  readonly cache_write?: Places;
  readonly cache_write_1h?: Places;
  readonly audio_input?: Places;
  readonly output?: Places;
  readonly reasoning?: Places;
  readonly audio_output?: Places;
  readonly web_searches?: Places;
  readonly service_tier?: Places;
  readonly input_includes_cached?: boolean;
  readonly output_includes_reasoning?: boolean;
}

type Places = string | readonly string[];

/** Places of the counts in OpenAI's answers and last chunks, and in those of services that follow it. */
const OPENAI = {
  input: "/usage/prompt_tokens",
  cached_input: "/usage/prompt_tokens_details/cached_tokens",
  cache_write: "/usage/prompt_tokens_details/cache_write_tokens",
  cache_write_1h: "/usage/prompt_tokens_details/cache_write_1h_tokens",
  audio_input: "/usage/prompt_tokens_details/audio_tokens",
  output: "/usage/completion_tokens",
  reasoning: "/usage/completion_tokens_details/reasoning_tokens",
  audio_output: "/usage/completion_tokens_details/audio_tokens",
  web_searches: "/usage/server_tool_use/web_search_requests",
  service_tier: "/service_tier",
} as const;

export type UsageReader = (body: unknown) => ReportedUsage | null;

/** Reads usage from the places that the provider's file names; null where there is none. */
export function usageReader(rules: UsageRules = {}): UsageReader {
  const at = (name: keyof typeof OPENAI) => pointers(rules[name] ?? OPENAI[name]);
  const [input, cached, output, reasoning] = [
    ...[at("input"), at("cached_input"), at("output"), at("reasoning")],
  ] as [Paths, Paths, Paths, Paths];
  const [write, writeForHour] = [at("cache_write"), at("cache_write_1h")];
  const [audioInput, audioOutput] = [at("audio_input"), at("audio_output")];
  const [searches, tier] = [at("web_searches"), at("service_tier")];
  const counts = [
    ...[input, cached, output, reasoning, write, writeForHour, audioInput, audioOutput, searches],
  ];
  const includes = {
    input: rules.input_includes_cached ?? true,
    output: rules.output_includes_reasoning ?? true,
  };

  return function readUsage(body) {
    const [read, written] = [countAt(body, input), countAt(body, output)];
    if (read === null && written === null) return null;
    // A count that is negative or not a safe integer makes the whole report unusable.
    if (counts.some((paths) => countAt(body, paths) === null && holdsNumber(body, paths))) {
      return null;
    }
    return disjoint({
      input: read ?? 0,
      cachedInput: countAt(body, cached),
      cacheWrite: countAt(body, write),
      cacheWrite1h: countAt(body, writeForHour),
      audioInput: countAt(body, audioInput),
      output: written ?? 0,
      reasoning: countAt(body, reasoning),
      audioOutput: countAt(body, audioOutput),
      webSearches: countAt(body, searches),
      serviceTier: textAt(body, tier),
    }, includes);
  };
}

type Paths = readonly Pointer[];

function holdsNumber(body: unknown, paths: Paths): boolean {
  return paths.some((path) => typeof follow(body, path) === "number");
}

function textAt(body: unknown, paths: Paths): unknown {
  return paths.map((path) => follow(body, path)).find((value) => typeof value === "string");
}

/** Counts as a provider reports them: parts may be included in the totals of their side. */
export interface CountedUsage {
  readonly input: number;
  readonly cachedInput?: number | null;
  readonly cacheWrite?: number | null;
  readonly cacheWrite1h?: number | null;
  readonly audioInput?: number | null;
  readonly output: number;
  readonly reasoning?: number | null;
  readonly audioOutput?: number | null;
  readonly webSearches?: number | null;
  readonly serviceTier?: unknown;
}

/** Subtracts the parts of each side from its total, so that no token is counted twice. */
export function disjoint(
  counted: CountedUsage,
  includes: { readonly input: boolean; readonly output: boolean },
): ReportedUsage {
  const input = new Remaining(includes.input ? counted.input : null);
  const cachedInput = input.take(counted.cachedInput);
  const cacheWrite1h = input.take(counted.cacheWrite1h);
  const cacheWrite = input.take(counted.cacheWrite);
  const audioInput = input.take(counted.audioInput);
  const output = new Remaining(includes.output ? counted.output : null);
  const reasoning = output.take(counted.reasoning);
  const audioOutput = output.take(counted.audioOutput);
  const serviceTier = tierOf(counted.serviceTier);
  return {
    input: input.left ?? counted.input,
    cachedInput,
    output: output.left ?? counted.output,
    reasoning,
    // Most answers have none of these.
    ...(cacheWrite > 0 ? { cacheWrite } : {}),
    ...(cacheWrite1h > 0 ? { cacheWrite1h } : {}),
    ...(audioInput > 0 ? { audioInput } : {}),
    ...(audioOutput > 0 ? { audioOutput } : {}),
    ...(typeof counted.webSearches === "number" ? { webSearches: counted.webSearches } : {}),
    ...(serviceTier === undefined ? {} : { serviceTier }),
  };
}

/** What is left of a total; null: the parts are not included in it. */
class Remaining {
  constructor(public left: number | null) {}

  /** Parts that exceed their total are an error of the provider: they must not charge more tokens than it counts. */
  take(part: number | null | undefined): number {
    if (this.left === null) return part ?? 0;
    const taken = Math.min(this.left, part ?? 0);
    this.left -= taken;
    return taken;
  }
}

/** Names of the base tier. */
const BASE_TIERS = new Set(["default", "standard", "auto", "on_demand"]);

function tierOf(value: unknown): string | undefined {
  const tier = typeof value === "string" ? value.toLowerCase() : "default";
  return BASE_TIERS.has(tier) ? undefined : tier;
}
