import { ApiError } from "../../src/lib/api_error.ts";
import { withoutTrailing } from "../../src/lib/without_trailing.ts";
import {
  type ChatRequest,
  EXTRA_PARAMETERS,
  type UpstreamRequest,
  type UpstreamTarget,
} from "../../src/upstream/adapter.ts";
import { type Json, record, records } from "./json.ts";
import { plainMessages, plainTools } from "./plain_messages.ts";

export interface Bounds {
  readonly min?: number;
  readonly max?: number;
  readonly otherwise?: "nearest" | "refuse";
}

/** How requests to a server that is compatible with OpenAI differ from the client's. */
export interface WriteRules {
  readonly auth?: "none" | { readonly header: string; readonly prefix?: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly parameters?: {
    readonly rename?: Readonly<Record<string, string>>;
    readonly accept?: readonly string[];
    readonly drop?: readonly string[];
    readonly refuse?: readonly string[];
    readonly keep?: Readonly<Record<string, Bounds>>;
    readonly defaults?: Readonly<Record<string, unknown>>;
  };
  readonly messages?: {
    readonly roles?: Readonly<Record<string, string>>;
    readonly drop?: readonly string[];
    readonly cache_control?: boolean;
  };
  readonly stream?: { readonly ask_usage?: boolean };
}

/** Parameters beyond OpenAI's that the provider takes: those that it accepts, renames, bounds or has a default for. */
export function takenExtras(
  { accept = [], rename = {}, keep = {}, defaults = {} }: NonNullable<WriteRules["parameters"]> =
    {},
): readonly string[] {
  return EXTRA_PARAMETERS.filter((name) =>
    accept.includes(name) || name in rename || name in keep || name in defaults
  );
}

export type RequestWriter = (request: ChatRequest, target: UpstreamTarget) => UpstreamRequest;

/** Makes the function that writes requests. The rules are prepared once, not for each request. */
export function requestWriter(rules: WriteRules): RequestWriter {
  const { parameters = {}, messages = {} } = rules;
  const auth = rules.auth ?? { header: "Authorization", prefix: "Bearer " };
  const path = rules.path ?? "/chat/completions";
  const fixed = lowerCase(rules.headers ?? {});
  const rename = Object.entries(parameters.rename ?? {});
  const knowsOlderLimit = hasRuleFor(parameters, "max_tokens") &&
    !hasRuleFor(parameters, "max_completion_tokens");
  const extras = takenExtras(parameters);
  const foreign = EXTRA_PARAMETERS.filter((name) => !extras.includes(name));
  const drop = [...parameters.drop ?? [], ...foreign];
  const keep = Object.entries(parameters.keep ?? {});
  const rewrite = messageRewriter(messages);
  const askUsage = rules.stream?.ask_usage ?? true;

  return function writeRequest(request, target) {
    refuseUnable(request, parameters.refuse ?? []);
    const streamed = request.stream === true;
    // A field that is not sent is undefined rather than deleted, which would make the object a slow one.
    const body: Record<string, unknown> = { ...parameters.defaults, ...request };
    body.model = target.model;
    if (body.tools !== undefined) body.tools = plainTools(body.tools);
    // The gateway uses the newer name of the output limit; a provider's file may use the older one.
    if (knowsOlderLimit) moveField(body, "max_completion_tokens", "max_tokens");
    for (const name of drop) if (name in body) body[name] = undefined;
    for (const [name, bounds] of keep) clamp(body, name, bounds);
    for (const [from, to] of rename) moveField(body, from, to);
    // OpenAI accepts only the older name of the output limit together with a prediction.
    if (isPresent(body.prediction)) moveField(body, "max_completion_tokens", "max_tokens");
    const marked = messages.cache_control === true;
    body.messages = plainMessages(request.messages, marked).map(rewrite);
    if (target.extraBody !== undefined) Object.assign(body, target.extraBody);
    if (streamed && askUsage) {
      body.stream_options = { ...record(request.stream_options), include_usage: true };
    } else if (body.stream_options !== undefined) body.stream_options = undefined;

    const headers: Record<string, string> = {
      "content-type": "application/json",
      "accept": streamed ? "text/event-stream" : "application/json",
      ...fixed,
    };
    if (auth !== "none" && target.apiKey !== null) {
      headers[auth.header.toLowerCase()] = `${auth.prefix ?? ""}${target.apiKey}`;
    }
    return {
      method: "POST",
      url: join(target.baseUrl, path.replaceAll("{model}", () => encodeURIComponent(target.model))),
      headers: Object.assign(headers, lowerCase(target.headers)),
      body: JSON.stringify(body),
    };
  };
}

/** Header names in lower case: a later header then replaces an earlier one instead of being added to it. */
export function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  const lowered: Record<string, string> = {};
  for (const name of Object.keys(headers)) lowered[name.toLowerCase()] = headers[name]!;
  return lowered;
}

export function join(baseUrl: string, path: string): string {
  return withoutTrailing(baseUrl, "/") + path;
}

export function refuse(param: string, message: string): never {
  throw new ApiError("capability_not_supported", message, { param });
}

function refuseUnable(request: ChatRequest, names: readonly string[]): void {
  for (const name of names) {
    const value = request[name];
    if (value === undefined || value === null || value === false) continue;
    refuse(name, `This model does not take \`${name}\`: leave it out.`);
  }
  if (request.tools === undefined) return;
  const odd = records(request.tools).findIndex((tool) => tool.type !== "function");
  if (odd >= 0) refuse(`tools.${odd}.type`, "This model takes tools of type `function` only.");
}

function clamp(body: Record<string, unknown>, name: string, bounds: Bounds): void {
  const value = body[name];
  if (typeof value !== "number") return;
  const { min = -Infinity, max = Infinity } = bounds;
  const clamped = Math.min(max, Math.max(min, value));
  if (clamped === value) return;
  if (bounds.otherwise === "refuse") {
    refuse(
      name,
      `This model takes a \`${name}\` of ${clamped} at ${clamped === max ? "most" : "least"}.`,
    );
  }
  body[name] = clamped;
}

function hasRuleFor(
  { rename = {}, keep = {}, drop = [], refuse = [] }: NonNullable<WriteRules["parameters"]>,
  name: string,
): boolean {
  return name in rename || name in keep || drop.includes(name) || refuse.includes(name);
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Renames a field; its value replaces that of a field that already has the new name. */
function moveField(body: Record<string, unknown>, from: string, to: string): void {
  const value = body[from];
  if (value === undefined) return;
  body[from] = undefined;
  if (value !== null) body[to] = value;
}

/** A function that copies only messages it changes. */
function messageRewriter(
  { roles = {}, drop = [] }: NonNullable<WriteRules["messages"]>,
): (message: Json) => Json {
  return function rewriteMessage(message) {
    const role = typeof message.role === "string" ? roles[message.role] : undefined;
    if (role === undefined && !drop.some((name) => name in message)) return message;
    const copy: Record<string, unknown> = { ...message };
    for (const name of drop) delete copy[name];
    if (role !== undefined) copy.role = role;
    return copy;
  };
}
