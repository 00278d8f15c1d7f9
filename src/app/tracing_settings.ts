import { z } from "zod";
import { VERSION } from "../platform/telemetry/version.ts";
import type { Attributes } from "../platform/tracing/span.ts";
import type { ExporterLimits } from "../platform/tracing/span_exporter.ts";
import { type SamplerName, SAMPLERS } from "../platform/tracing/sampler.ts";
import { oneOf, optional, wholeNumber } from "./variable_types.ts";

/** Where spans are sent, and which. */
export interface TracingSettings {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Attributes;
  readonly sampler: SamplerName;
  readonly ratio: number;
  readonly limits: ExporterLimits;
}

const RATIO = /^(0(\.\d+)?|1(\.0+)?)$/;
const endpoint = optional(z.url({
  protocol: /^https?$/,
  error: "must be the address of a collector for OTLP over HTTP, such as http://localhost:4318",
}));
/** `name=value` with commas between them, values with percent signs as in addresses. */
const pairs = optional(
  z.string().transform((list) => list.split(",").map((pair) => pair.trim()).filter(Boolean))
    .refine(
      (list) => list.every((pair) => pair.indexOf("=") > 0 && isDecodable(pair)),
      "must be pairs as in name=value,name=value",
    ).transform((list) => Object.fromEntries(list.map(toPair))),
);

/** The variables of the OpenTelemetry specification that the gateway knows. */
export const TRACING_VARIABLES = {
  OTEL_SDK_DISABLED: optional(oneOf(["true", "false"])),
  OTEL_TRACES_EXPORTER: optional(oneOf(["otlp", "none"])),
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_PROTOCOL: optional(oneOf(["http/json"])),
  OTEL_EXPORTER_OTLP_HEADERS: pairs,
  OTEL_EXPORTER_OTLP_TIMEOUT: optional(wholeNumber(1, 600_000, 10_000)),
  OTEL_SERVICE_NAME: optional(z.string()),
  OTEL_RESOURCE_ATTRIBUTES: pairs,
  OTEL_TRACES_SAMPLER: optional(oneOf(SAMPLERS)),
  OTEL_TRACES_SAMPLER_ARG: optional(
    z.string().regex(RATIO, "must be a number from 0 to 1, such as 0.1").transform(Number),
  ),
  OTEL_BSP_SCHEDULE_DELAY: optional(wholeNumber(1, 600_000, 5_000)),
  OTEL_BSP_MAX_QUEUE_SIZE: optional(wholeNumber(1, 1_000_000, 10_000)),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: optional(wholeNumber(1, 10_000, 512)),
};

const Variables = z.object(TRACING_VARIABLES);

/** Null: no collector is named, or tracing is disabled. */
export function toTracingSettings(env: z.infer<typeof Variables>): TracingSettings | null {
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? tracesAt(env.OTEL_EXPORTER_OTLP_ENDPOINT);
  const isOff = env.OTEL_SDK_DISABLED === "true" || env.OTEL_TRACES_EXPORTER === "none";
  if (url === undefined || isOff) return null;
  return {
    url,
    headers: env.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    resource: {
      "service.name": "tollgate",
      "service.version": VERSION,
      ...env.OTEL_RESOURCE_ATTRIBUTES,
      ...(env.OTEL_SERVICE_NAME === undefined ? {} : { "service.name": env.OTEL_SERVICE_NAME }),
    },
    sampler: env.OTEL_TRACES_SAMPLER ?? "parentbased_always_on",
    ratio: env.OTEL_TRACES_SAMPLER_ARG ?? 1,
    limits: {
      spansMax: env.OTEL_BSP_MAX_QUEUE_SIZE ?? 10_000,
      batchMax: env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE ?? 512,
      gatherMs: env.OTEL_BSP_SCHEDULE_DELAY ?? 5_000,
      timeoutMs: env.OTEL_EXPORTER_OTLP_TIMEOUT ?? 10_000,
      closeMs: 3_000,
    },
  };
}

/** The general endpoint is where the paths of all signals begin. */
function tracesAt(endpoint: string | undefined): string | undefined {
  return endpoint === undefined ? undefined : `${endpoint.replace(/\/$/, "")}/v1/traces`;
}

function isDecodable(pair: string): boolean {
  try {
    return decodeURIComponent(pair) !== "";
  } catch {
    // The only error that it throws: a percent sign without its digits.
    return false;
  }
}

function toPair(pair: string): [string, string] {
  const at = pair.indexOf("=");
  return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
}
