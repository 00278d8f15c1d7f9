import type { UpstreamFault } from "../../src/upstream/adapter.ts";
import { count, type Json, record, records, text } from "./json.ts";
import { follow, type Pointer, pointers } from "./pointer.ts";

export type FaultKind = UpstreamFault["kind"];

/** One line of an error table: everything it names must hold. */
export interface ErrorRule {
  readonly status?: number | readonly number[];
  readonly code?: string | number | readonly (string | number)[];
  readonly type?: string | readonly string[];
  /** Part of the message, in any case. */
  readonly message?: string | readonly string[];
  readonly kind: FaultKind;
}

export interface ErrorRules {
  readonly at?: string | readonly string[];
  /** The error's field that names its kind; `code` where it is left out. */
  readonly code?: string;
  readonly rules?: readonly ErrorRule[];
}

/** What servers of OpenAI's dialect say, whichever they are. Declared rules come before these. */
const COMMON: readonly ErrorRule[] = [
  { code: "context_length_exceeded", kind: "too_long" },
  { message: ["maximum context length", "context length is only"], kind: "too_long" },
  // The account behind our key cannot pay: like a key that is refused, waiting does not mend it.
  { code: ["insufficient_quota", "billing_not_active"], kind: "unauthorized" },
  { type: "insufficient_quota", kind: "unauthorized" },
  // The model is named by the declaration, never by the client.
  { code: ["model_not_found", "DeploymentNotFound"], kind: "failed" },
  { code: ["invalid_api_key", "account_deactivated"], kind: "unauthorized" },
  { code: ["rate_limit_exceeded", 429], kind: "rate_limited" },
  { type: ["rate_limit_error", "tokens", "requests"], kind: "rate_limited" },
  { type: "overloaded_error", kind: "overloaded" },
];

/** What a status means where the body says nothing more. */
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

/** How a provider reports failure: instead of an answer, or in the middle of one. */
export interface Faults {
  /** What an error means that was found already. */
  judge(status: number, error: Json): UpstreamFault;
  /** What an answer that is not 2xx means. */
  read(status: number, body: unknown): UpstreamFault;
  /**
   * Whether an error code or type that a rule lists proves that the request was not processed. Rules that read
   * the message never prove it: whether a paid job may be sent again must not depend on wording.
   */
  isDeclined(status: number, body: unknown): boolean;
  /** What a chunk reports; null for one that reports no failure. */
  inChunk(chunk: Json): UpstreamFault | null;
}

/** Reads errors by the declared table, then by what is common, then by status. */
export function declareFaults(
  declared: ErrorRules = {},
  clientName: (param: string) => string = (param) => param,
  fields: ReadonlySet<string> = CLIENT_FIELDS,
): Faults {
  const at = pointers(declared.at ?? "/error");
  const codeField = declared.code ?? "code";
  const rules = [...declared.rules ?? [], ...COMMON].map(compile);

  function judge(status: number, error: Json): UpstreamFault {
    const kind = rules.find((rule) => rule.fits(status, error))?.kind ?? kindOfStatus(status);
    if (kind !== "rejected") return { kind };
    const param = paramOf(text(error.param), clientName, fields);
    // A complaint about the model's name is about our declaration.
    if (param === "model") return { kind: "failed" };
    return param === null ? { kind } : { kind, param };
  }

  function errorOf(body: unknown): Json | null {
    const error = errorIn(body, at) ?? flatError(body);
    return error === null || codeField === "code" ? error : { ...error, code: error[codeField] };
  }

  return {
    judge,
    read(status, body) {
      const error = errorOf(body);
      return error === null ? { kind: kindWithoutBody(status) } : judge(status, error);
    },
    isDeclined(status, body) {
      const error = errorOf(body);
      if (error === null) return false;
      const rule = rules.find((each) => each.readsCodeOnly && each.fits(status, error));
      return rule !== undefined && rule.kind !== "failed";
    },
    inChunk(chunk) {
      const error = errorIn(chunk, at);
      // Many put the status they would have answered with into the code.
      return error === null ? null : judge(count(error.code) ?? 0, error);
    },
  };
}

/** The error's object, also where it is only a sentence. */
function errorIn(body: unknown, at: readonly Pointer[]): Json | null {
  for (const path of at) {
    const found = follow(body, path);
    if (typeof found === "string") return { message: found };
    // Where several are listed, the first says enough.
    const error = record(found) ?? records(found)[0] ?? null;
    if (error !== null) return error;
  }
  return null;
}

/** Some servers send it without a wrapper. */
function flatError(body: unknown): Json | null {
  const flat = record(body);
  return typeof flat?.message === "string" ? flat : null;
}

/** A refusal in HTML or without a body comes from something in between: nobody read the request. */
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

/** Codes are compared as text: the same one is 429 here and "429" there. */
function setOf(value: OneOrMore | undefined): ReadonlySet<string> | null {
  return value === undefined ? null : new Set([value].flat().map(String));
}

/** A code may end in `*`, for a family of them. */
function matcher(value: OneOrMore | undefined): ((code: string) => boolean) | null {
  const codes = setOf(value);
  if (codes === null) return null;
  const families = [...codes].filter((code) => code.endsWith("*")).map((code) => code.slice(0, -1));
  return (code) => codes.has(code) || families.some((family) => code.startsWith(family));
}

const lower = (value: string) => value.toLowerCase();

/** Fields that a client of ours can have sent; anything else would speak of what it cannot see. */
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

/** The client's name for the field that a provider complains about; null where it has none. */
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
