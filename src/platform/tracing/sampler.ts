import type { TraceContext } from "./trace_context.ts";

/** Decides whether a trace is kept, by its id and by what the sender of the request decided. */
export type Sampler = (traceId: string, parent: TraceContext | null) => boolean;

export const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

const PARENT_BASED = "parentbased_";

/** The samplers of the OpenTelemetry specification. `ratio` is for those by trace id. */
export function samplerOf(name: SamplerName, ratio: number): Sampler {
  if (name.startsWith(PARENT_BASED)) {
    const root = samplerOf(name.slice(PARENT_BASED.length) as SamplerName, ratio);
    return (traceId, parent) => parent === null ? root(traceId, null) : parent.isSampled;
  }
  if (name !== "traceidratio") return () => name === "always_on";
  // The last 14 digits are random in every trace id; all services with the same ratio decide alike.
  const bound = ratio * 2 ** 56;
  return (traceId) => Number(`0x${traceId.slice(18)}`) < bound;
}
