import type { UpstreamFault, UpstreamReply, UpstreamTarget } from "../../src/upstream/adapter.ts";
import type { JobStatus, MediaUsage, UpstreamOutput } from "../../src/upstream/media_adapter.ts";
import { compact, list, text } from "../dialect/json.ts";
import { join } from "../dialect/write.ts";
import type { MediaRules, OutputRules, StateRules } from "./media_file.ts";
import { type Bound, compileExpression, type Evaluate, type Maps } from "./expression.ts";

export interface ReadingOptions {
  rules: MediaRules;
  maps: Maps;
  /** What a job's failure means, by the provider's error table. */
  classify(error: Readonly<Record<string, unknown>>): UpstreamFault;
}

export interface Reading {
  /** The job's state in a response; null for a state that the provider's file does not list. */
  state(reply: UpstreamReply, bound: Bound): Promise<JobStatus["state"] | null>;
  /** The status of a job that is in this state, with what the response says about it. */
  status(
    state: JobStatus["state"],
    reply: UpstreamReply,
    target: UpstreamTarget,
    bound: Bound,
  ): Promise<JobStatus>;
}

/** Compiles an expression of the provider's file; null where the file has none. */
type CompileOptional = (written: string | undefined) => Evaluate | null;

export function compileReading({ rules, maps, classify }: ReadingOptions): Reading {
  const compile: CompileOptional = (written) =>
    written === undefined ? null : compileExpression(written, maps);
  const stateAt = compile(rules.state?.at);
  const states = rules.state === undefined ? null : stateTable(rules.state);
  const progress = compile(rules.progress);
  const code = compile(rules.failure?.code);
  const message = compile(rules.failure?.message);
  const readUsage = compileUsage(rules.usage, compile);
  const readOutputs = compileOutputs(rules.outputs, compile);

  return {
    async state(reply, bound) {
      const body = jsonOf(reply);
      // An HTML page of a proxy says nothing about the job.
      if (body === undefined) throw new TypeError("expected JSON");
      const state = await stateAt?.(body, bound);
      return states?.get(String(state)) ?? null;
    },
    async status(state, reply, target, bound) {
      const body = jsonOf(reply);
      switch (state) {
        case "queued":
        case "running":
          return { state, progress: percent(await progress?.(body, bound)) };
        case "failed": {
          const error = { code: await code?.(body, bound), message: await message?.(body, bound) };
          return { state, fault: classify(compact(error)) };
        }
        case "cancelled":
          return { state, usage: await readUsage(body, bound) };
        case "succeeded": {
          const outputs = await readOutputs(reply, target, bound);
          if (outputs.length === 0) throw new TypeError("a job that succeeded has no outputs");
          return { state, outputs, usage: await readUsage(body, bound) };
        }
      }
    },
  };
}

/** Reads what the provider reports as made; null where it reports nothing. */
function compileUsage(
  rules: MediaRules["usage"],
  compile: CompileOptional,
): (body: unknown, bound: Bound) => Promise<MediaUsage | null> {
  const outputsAt = compile(rules?.outputs);
  const secondsAt = compile(rules?.seconds);
  return async (body, bound) => {
    const outputs = amount(await outputsAt?.(body, bound));
    const seconds = amount(await secondsAt?.(body, bound));
    const durationMs = seconds === undefined ? undefined : Math.round(seconds * 1000);
    const usage = compact({ outputs, durationMs });
    return Object.keys(usage).length === 0 ? null : usage;
  };
}

function compileOutputs(
  { url, base64, bytes, mime_type, with_key: withKey = false }: OutputRules,
  compile: CompileOptional,
): (reply: UpstreamReply, target: UpstreamTarget, bound: Bound) => Promise<UpstreamOutput[]> {
  const urlAt = compile(url);
  const base64At = compile(base64);
  const mimeTypeAt = compile(mime_type);
  return async (reply, target, bound) => {
    const body = jsonOf(reply);
    const mimeType = text(await mimeTypeAt?.(body, bound));
    if (bytes === true) {
      if (!(reply.body instanceof Uint8Array)) throw new TypeError("expected bytes");
      const read = reply.body as Uint8Array<ArrayBuffer>;
      return [{ bytes: read, mimeType: mimeType ?? reply.mimeType }];
    }
    if (base64At !== null) {
      return textsOf(await base64At(body, bound)).map((coded) => fromBase64(coded, mimeType));
    }
    return textsOf(await urlAt?.(body, bound)).map((url) =>
      fromUrl(url, mimeType, target, withKey)
    );
  };
}

/** The body of a JSON response; undefined for bytes, which expressions cannot read. */
export function jsonOf({ body }: UpstreamReply): unknown {
  return body instanceof Uint8Array ? undefined : body;
}

function stateTable(
  { at: _, ...states }: StateRules,
): ReadonlyMap<string, JobStatus["state"]> {
  return new Map(
    Object.entries(states).flatMap(([state, values]) =>
      [values].flat().map((value) => [value, state as JobStatus["state"]] as const)
    ),
  );
}

function textsOf(value: unknown): string[] {
  return (Array.isArray(value) ? list(value) : [value]).filter((one) =>
    typeof one === "string" && one !== ""
  ) as string[];
}

function fromBase64(coded: string, mimeType: string | null): UpstreamOutput {
  const head = /^data:([\w.+-]+\/[\w.+-]+);base64,/.exec(coded.slice(0, 128));
  const bytes = Uint8Array.fromBase64(head === null ? coded : coded.slice(head[0].length));
  return { bytes, mimeType: head?.[1] ?? mimeType };
}

/** A data URL contains its bytes; a path is relative to the base URL. */
function fromUrl(
  url: string,
  mimeType: string | null,
  { baseUrl }: UpstreamTarget,
  withKey: boolean,
): UpstreamOutput {
  if (url.startsWith("data:")) return fromBase64(url, mimeType);
  const { protocol, href } = new URL(url.startsWith("/") ? join(baseUrl, url) : url);
  if (!/^https?:$/.test(protocol)) throw new TypeError("the URL of an output is not http or https");
  return { url: href, headers: {}, mimeType, ...(withKey ? { withKey } : {}) };
}

function percent(value: unknown): number | null {
  const number = amount(value);
  return number === undefined ? null : Math.min(100, Math.floor(number));
}

/** A number that is not negative, also where the provider writes it as text. */
function amount(value: unknown): number | undefined {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? number : undefined;
}
