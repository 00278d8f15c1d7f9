import type { UpstreamFault } from "../../src/upstream/adapter.ts";
import { type FaultKind, kindOfStatus, kindWithoutBody, paramOf } from "../dialect/faults.ts";
import { type Json, record, text } from "../dialect/json.ts";

const KINDS: Readonly<Record<string, FaultKind>> = {
  invalid_request_error: "rejected",
  authentication_error: "unauthorized",
  permission_error: "unauthorized",
  billing_error: "unauthorized",
  not_found_error: "failed",
  request_too_large: "too_long",
  rate_limit_error: "rate_limited",
  timeout_error: "failed",
  api_error: "failed",
  overloaded_error: "overloaded",
};

/** Fields that have another name in the client's request. */
const CLIENT_NAMES: Readonly<Record<string, string>> = {
  stop_sequences: "stop",
  system: "messages",
  thinking: "reasoning_effort",
};

export function readFault(status: number, body: unknown): UpstreamFault {
  const error = record(record(body)?.error);
  return error === null ? { kind: kindWithoutBody(status) } : faultOfError(status, error);
}

export function faultOfError(status: number, error: Json): UpstreamFault {
  const message = text(error.message) ?? "";
  const kind = KINDS[text(error.type) ?? ""] ?? kindOfStatus(status);
  if (record(error.details)?.error_code === "enforced_spend_limit_reached") {
    return { kind: "unauthorized" };
  }
  if (kind !== "rejected") return { kind };
  if (/prompt is too long|exceed(?:s|ed)? (?:the )?context (?:limit|window)/i.test(message)) {
    return { kind: "too_long" };
  }
  // The account cannot pay; the provider reports it with the type of a bad request.
  if (/credit balance|API usage limits/i.test(message)) return { kind: "unauthorized" };
  const named = /^([a-z_]+)[.:]/.exec(message)?.[1] ?? null;
  if (named === "model") return { kind: "failed" };
  const param = paramOf(named, (name) => CLIENT_NAMES[name] ?? name);
  return param === null ? { kind } : { kind, param };
}
