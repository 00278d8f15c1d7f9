import { ApiError } from "../../lib/api_error.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";

/** A request of a dialect as the engine takes it. */
export interface TranslatedChat {
  readonly request: ChatRequest;
  /** Names of fields that were left out, since neither the gateway nor the model knows them. */
  readonly ignored: readonly string[];
  /** Where the client wrote each message. */
  readonly paths: readonly string[];
}

export type JsonFields = Readonly<Record<string, unknown>>;

/** How a dialect calls the engine's fields. */
export type FieldNames = Readonly<Record<string, string>>;

/** The error with the client's own names of fields: the engine knows only its own. */
export function inClientTerms(
  error: unknown,
  paths: readonly string[],
  names: FieldNames,
): unknown {
  if (!(error instanceof ApiError) || error.param === null) return error;
  const param = clientName(error.param, paths, names);
  if (param === error.param) return error;
  const { code, message, kind, retryAfterSeconds, cause, detail } = error;
  return new ApiError(code, message.replaceAll(error.param, () => param), {
    param,
    kind,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    cause,
    detail,
  });
}

function clientName(param: string, paths: readonly string[], names: FieldNames): string {
  const message = /^messages\.(\d+)(?:\.|$)/.exec(param);
  if (message !== null) return paths[Number(message[1])] ?? param;
  const [first, ...rest] = param.split(".");
  const name = names[first!];
  return name === undefined ? param : [name, ...rest].join(".");
}

/** What a model cannot be told, by name. */
export function notSupported(param: string, problem: string): ApiError {
  return new ApiError("capability_not_supported", `${param} ${problem}.`, { param });
}

export function invalidField(param: string, problem: string): ApiError {
  return new ApiError("invalid_value", `${param} ${problem}.`, { param });
}

export function objectAt(value: unknown, param: string): JsonFields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as JsonFields;
  }
  throw invalidField(param, "must be an object");
}

export function textAt(fields: JsonFields, name: string, param: string): string {
  const value = fields[name];
  if (typeof value === "string") return value;
  throw invalidField(`${param}.${name}`, "must be a string");
}

const HEADER_NAME = /^[\w.-]{1,64}$/;
const NAMES_MAX = 32;

/** The header that names what was left out: by the dialect, and by the upstream. */
export function ignoredHeader(
  ...ignored: readonly (readonly string[])[]
): Record<string, string> | undefined {
  if (ignored.every(({ length }) => length === 0)) return undefined;
  // Names come from the client: only those that a header can carry.
  const names = ignored.flat().filter((name) => HEADER_NAME.test(name)).slice(0, NAMES_MAX);
  return names.length === 0 ? undefined : { "x-ignored-fields": names.join(", ") };
}

/** Names in the request that are not among the known ones. */
export function unknownNames(fields: JsonFields, known: ReadonlySet<string>): string[] {
  return Object.keys(fields).filter((name) => !known.has(name));
}
