import type { UpstreamFault } from "../../src/upstream/adapter.ts";
import { count, type Json, record, records, text } from "./json.ts";
import { follow, type Pointer, pointers } from "./pointer.ts";

export type FaultKind = UpstreamFault["kind"];

/** One rule of an error table: it applies where all of its conditions are true. */
export interface ErrorRule {
  readonly status?: number | readonly number[];
  readonly code?: string | number | readonly (string | number)[];
  readonly type?: string | readonly string[];
  /** Part of the message; upper and lower case are equal. */
  readonly message?: string | readonly string[];
  readonly kind: FaultKind;
}

export interface ErrorRules {
  readonly at?: string | readonly string[];
  /** The error's field with its code; `code` by default. */
  readonly code?: string;
  readonly rules?: readonly ErrorRule[];
}

/** Errors of all servers that are compatible with OpenAI. The rules of a provider's file come first. */
const COMMON: readonly ErrorRule[] = [
  { code: ["context_length_exceeded", "max_tokens_per_request"], kind: "too_long" },
  {
    message: ["maximum context length", "context length is only", "maximum input length"],
    kind: "too_long",
  },
  // The provider account of our key cannot pay: like a rejected key, it does not recover by waiting.
  { code: ["insufficient_quota", "billing_not_active"], kind: "unauthorized" },
  { type: "insufficient_quota", kind: "unauthorized" },
  // The name of the upstream's model comes from the configuration, never from the client.
  { code: ["model_not_found", "DeploymentNotFound"], kind: "failed" },
  { code: ["invalid_api_key", "account_deactivated"], kind: "unauthorized" },
  { code: ["rate_limit_exceeded", 429], kind: "rate_limited" },
  { type: ["rate_limit_error", "tokens", "requests"], kind: "rate_limited" },
  { type: "overloaded_error", kind: "overloaded" },
];

/** The kind of a fault by its status alone. */
export function kindOfStatus(status: number): FaultKind {
  switch (status) {
    case 400:
    case 415:
    case 422:
      return "rejected";
    case 401:
    case 402:
    case 403:
      return "unauthorized";
    case 413:
      return "too_long";
    case 429:
      return "rate_limited";
    case 498:
    case 503:
    case 529:
      return "overloaded";
    default:
      return "failed";
  }
}

/** Reads the errors of a provider: instead of a response, or in the middle of a stream. */
export interface Faults {
  /** The fault that an error object describes. */
  classify(status: number, error: Json): UpstreamFault;
  /** The fault that a non-2xx response describes. */
  read(status: number, body: unknown): UpstreamFault;
  /**
   * Whether an error code or type that a rule lists proves that the request was not processed. Rules that read
   * the message never prove it: whether a paid job may be sent again must not depend on wording.
   */
  isDeclined(status: number, body: unknown): boolean;
  /** The fault that a chunk of a stream reports; null where it reports none. */
  inChunk(chunk: Json): UpstreamFault | null;
}

/** Classifies errors by the rules of the provider's file, then by the common rules, then by status. */
export function compileFaults(
  errors: ErrorRules = {},
  clientName: (param: string) => string = (param) => param,
  fields: ReadonlySet<string> = CLIENT_FIELDS,
): Faults {
  const at = pointers(errors.at ?? "/error");
  const codeField = errors.code ?? "code";
  const rules = [...errors.rules ?? [], ...COMMON].map(compile);

  function classify(status: number, error: Json): UpstreamFault {
    const kind = rules.find((rule) => rule.fits(status, error))?.kind ?? kindOfStatus(status);
    if (kind !== "rejected") return { kind };
    const param = paramOf(text(error.param), clientName, fields);
    // An error about the model's name is about our configuration.
    if (param === "model") return { kind: "failed" };
    return param === null ? { kind } : { kind, param };
  }

  function errorOf(body: unknown): Json | null {
    const error = errorIn(body, at) ?? flatError(body);
    return error === null || codeField === "code" ? error : { ...error, code: error[codeField] };
  }

  return {
    classify,
    read(status, body) {
      const error = errorOf(body);
      return error === null ? { kind: kindWithoutBody(status) } : classify(status, error);
    },
    isDeclined(status, body) {
      const error = errorOf(body);
      if (error === null) return false;
      const rule = rules.find((each) => each.readsCodeOnly && each.fits(status, error));
      return rule !== undefined && rule.kind !== "failed";
    },
    inChunk(chunk) {
      const error = errorIn(chunk, at);
      // Many providers write an HTTP status into the code.
      return error === null ? null : classify(count(error.code) ?? 0, error);
    },
  };
}

/** The error object; an error that is only a text becomes its message. */
function errorIn(body: unknown, at: readonly Pointer[]): Json | null {
  for (const path of at) {
    const found = follow(body, path);
    if (typeof found === "string") return { message: found };
    // The first one of a list.
    const error = record(found) ?? records(found)[0] ?? null;
    if (error !== null) return error;
  }
  return null;
}

/** Some servers send the error object itself as the body. */
function flatError(body: unknown): Json | null {
  const flat = record(body);
  return typeof flat?.message === "string" ? flat : null;
}

/** An error in HTML or without a body comes from a proxy in between: the provider did not read the request. */
export function kindWithoutBody(status: number): FaultKind {
  const kind = kindOfStatus(status);
  return kind === "rejected" ? "failed" : kind;
}

interface CompiledRule {
  readonly kind: FaultKind;
  /** Reads the error's code or type, and not its message. */
  readonly readsCodeOnly: boolean;
  fits(status: number, error: Json): boolean;
}

function compile(rule: ErrorRule): CompiledRule {
  const statuses = setOf(rule.status);
  const codes = matcher(rule.code);
  const types = setOf(rule.type);
  const parts = rule.message === undefined ? null : [rule.message].flat().map(lower);
  return {
    kind: rule.kind,
    readsCodeOnly: (codes !== null || types !== null) && parts === null,
    fits(status, error) {
      if (statuses !== null && !statuses.has(String(status))) return false;
      if (codes !== null && !codes(String(error.code))) return false;
      if (types !== null && !types.has(String(error.type))) return false;
      if (parts === null) return true;
      const message = lower(text(error.message) ?? "");
      return parts.some((part) => message.includes(part));
    },
  };
}

type OneOrMore = string | number | readonly (string | number)[];

/** Codes are compared as text: providers send both 429 and "429". */
function setOf(value: OneOrMore | undefined): ReadonlySet<string> | null {
  return value === undefined ? null : new Set([value].flat().map(String));
}

/** A code that ends in `*` matches all codes with that prefix. */
function matcher(value: OneOrMore | undefined): ((code: string) => boolean) | null {
  const codes = setOf(value);
  if (codes === null) return null;
  const families = [...codes].filter((code) => code.endsWith("*")).map((code) => code.slice(0, -1));
  return (code) => codes.has(code) || families.some((family) => code.startsWith(family));
}

const lower = (value: string) => value.toLowerCase();

/** Fields that a client can have sent. Others belong to the provider's API and are not shown. */
const CLIENT_FIELDS = new Set([
  ...["model", "messages", "tools", "tool_choice", "parallel_tool_calls", "functions", "n", "stop"],
  ...["function_call", "response_format", "max_tokens", "max_completion_tokens", "temperature"],
  ...["top_p", "frequency_penalty", "presence_penalty", "logit_bias", "logprobs", "top_logprobs"],
  ...["seed", "stream", "stream_options", "reasoning_effort", "verbosity", "modalities", "audio"],
  ...["prediction", "user", "metadata", "store", "service_tier", "web_search_options"],
  ...["safety_identifier", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"],
  ...["moderation"],
]);

const PARAM = /^([a-z_]+)(?:$|[.[][\w.[\]-]{0,120}$)/;

/** The client's name of the field that an error is about; null where the client has no such field. */
export function paramOf(
  named: string | null,
  clientName: (param: string) => string = (param) => param,
  fields: ReadonlySet<string> = CLIENT_FIELDS,
): string | null {
  const root = named === null ? undefined : PARAM.exec(named)?.[1];
  if (root === undefined) return null;
  const known = clientName(root);
  return fields.has(known) ? known + named!.slice(root.length) : null;
}
