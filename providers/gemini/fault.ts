import type { UpstreamFault } from "../../src/upstream/adapter.ts";
import { type FaultKind, kindOfStatus, kindWithoutBody } from "../dialect/faults.ts";
import { count, type Json, record, records, text } from "../dialect/json.ts";

const KINDS: Readonly<Record<string, FaultKind>> = {
  INVALID_ARGUMENT: "rejected",
  OUT_OF_RANGE: "rejected",
  // The account may not use the service from this region, or not without billing.
  FAILED_PRECONDITION: "unauthorized",
  UNAUTHENTICATED: "unauthorized",
  PERMISSION_DENIED: "unauthorized",
  NOT_FOUND: "failed",
  RESOURCE_EXHAUSTED: "rate_limited",
  CANCELLED: "failed",
  INTERNAL: "failed",
  UNIMPLEMENTED: "failed",
  UNAVAILABLE: "overloaded",
  DEADLINE_EXCEEDED: "failed",
};

/** Parts of the provider's field paths, with the client's field names. */
const CLIENT_NAMES: readonly (readonly [string, string])[] = [
  ["temperature", "temperature"],
  ["top_p", "top_p"],
  ["max_output_tokens", "max_completion_tokens"],
  ["stop_sequences", "stop"],
  ["candidate_count", "n"],
  ["response_json_schema", "response_format"],
  ["response_schema", "response_format"],
  ["response_mime_type", "response_format"],
  ["thinking_config", "reasoning_effort"],
  ["presence_penalty", "presence_penalty"],
  ["frequency_penalty", "frequency_penalty"],
  ["logprobs", "logprobs"],
  ["function_declarations", "tools"],
  ["tool_config", "tool_choice"],
  ["contents", "messages"],
  ["system_instruction", "messages"],
];

export function readFault(status: number, body: unknown): UpstreamFault {
  // A stream that fails before it starts returns an array with one error.
  const whole = Array.isArray(body) ? body[0] : body;
  const error = record(record(whole)?.error);
  return error === null ? { kind: kindWithoutBody(status) } : faultOfError(status, error);
}

export function faultOfError(given: number, error: Json): UpstreamFault {
  const status = given === 0 ? count(error.code) ?? 0 : given;
  const message = text(error.message) ?? "";
  const details = records(error.details);
  const kind = status === 402 ? "unauthorized" : KINDS[text(error.status) ?? ""] ??
    kindOfStatus(status);
  if (kind !== "rejected") return { kind };
  if (details.some(({ reason }) => /^API_KEY_/.test(text(reason) ?? ""))) {
    return { kind: "unauthorized" };
  }
  if (isTooLong(message)) return { kind: "too_long" };
  const param = paramOf(details, message);
  return param === null ? { kind } : { kind, param };
}

/** "The input token count (…) exceeds the maximum number of tokens allowed (…)." */
function isTooLong(message: string): boolean {
  const lowered = message.toLowerCase();
  const at = lowered.indexOf("token count ");
  return at !== -1 && lowered.includes("exceeds", at);
}

function paramOf(details: readonly Json[], message: string): string | null {
  const violation = details.flatMap(({ fieldViolations }) => records(fieldViolations))[0];
  const field = text(violation?.field) ?? message;
  const words = new Set(
    field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).split(/\W+/),
  );
  return CLIENT_NAMES.find(([word]) => words.has(word))?.[1] ?? null;
}
