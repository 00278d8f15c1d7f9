import type { UpstreamFault, UpstreamTarget } from "../../src/upstream/adapter.ts";
import type {
  JobStatus,
  MediaReply,
  MediaUsage,
  UpstreamOutput,
} from "../../src/upstream/media_adapter.ts";
import { compact, list, text } from "../dialect/json.ts";
import { join } from "../dialect/write.ts";
import type { MediaDeclaration, StateDeclaration } from "./declaration.ts";
import { type Bound, compileExpression, type Evaluate, type Maps } from "./expression.ts";

export interface ReadingOptions {
  declared: MediaDeclaration;
  maps: Maps;
  /** What a job's failure means, by the provider's error table. */
  judge(error: Readonly<Record<string, unknown>>): UpstreamFault;
}

export interface Reading {
  /** The state alone; null where the answer names none that is known. */
  state(reply: MediaReply, bound: Bound): Promise<JobStatus["state"] | null>;
  /** What a job is known to be in a state. */
  seen(
    state: JobStatus["state"],
    reply: MediaReply,
    target: UpstreamTarget,
    bound: Bound,
  ): Promise<JobStatus>;
}

export function compileReading({ declared, maps, judge }: ReadingOptions): Reading {
  const at = (written: string | undefined): Evaluate | null =>
    written === undefined ? null : compileExpression(written, maps);
  const stateAt = at(declared.state?.at);
  const states = declared.state === undefined ? null : stateTable(declared.state);
  const progress = at(declared.progress);
  const failure = { code: at(declared.failure?.code), message: at(declared.failure?.message) };
  const usage = { outputs: at(declared.usage?.outputs), seconds: at(declared.usage?.seconds) };
  const { with_key: withKey = false, bytes, ...places } = declared.outputs;
  const outputs = {
    url: at(places.url),
    base64: at(places.base64),
    mimeType: at(places.mime_type),
  };

  async function usageIn(body: unknown, bound: Bound): Promise<MediaUsage | null> {
    const made = amount(await usage.outputs?.(body, bound));
    const seconds = amount(await usage.seconds?.(body, bound));
    const durationMs = seconds === undefined ? undefined : Math.round(seconds * 1000);
    const said = compact({ outputs: made, durationMs });
    return Object.keys(said).length === 0 ? null : said;
  }

  async function outputsIn(
    reply: MediaReply,
    target: UpstreamTarget,
    bound: Bound,
  ): Promise<UpstreamOutput[]> {
    const body = jsonOf(reply);
    const mimeType = text(await outputs.mimeType?.(body, bound));
    if (bytes === true) {
      if (!(reply.body instanceof Uint8Array)) throw new TypeError("expected bytes");
      const read = reply.body as Uint8Array<ArrayBuffer>;
      return [{ bytes: read, mimeType: mimeType ?? reply.mimeType }];
    }
    if (outputs.base64 !== null) {
      return textsOf(await outputs.base64(body, bound)).map((coded) => fromBase64(coded, mimeType));
    }
    return textsOf(await outputs.url?.(body, bound)).map((url) =>
      fromUrl(url, mimeType, target, withKey)
    );
  }

  return {
    async state(reply, bound) {
      const body = jsonOf(reply);
      // A page of something in between tells nothing of the job.
      if (body === undefined) throw new TypeError("expected JSON");
      const said = await stateAt?.(body, bound);
      return states?.get(String(said)) ?? null;
    },
    async seen(state, reply, target, bound) {
      const body = jsonOf(reply);
      switch (state) {
        case "queued":
        case "running":
          return { state, progress: percent(await progress?.(body, bound)) };
        case "failed": {
          const [code, message] = [
            await failure.code?.(body, bound),
            await failure.message?.(body, bound),
          ];
          return { state, fault: judge(compact({ code, message })) };
        }
        case "cancelled":
          return { state, usage: await usageIn(body, bound) };
        case "succeeded": {
          const made = await outputsIn(reply, target, bound);
          if (made.length === 0) throw new TypeError("a job that succeeded made nothing");
          return { state, outputs: made, usage: await usageIn(body, bound) };
        }
      }
    },
  };
}

/** Expressions look at JSON only. */
export function jsonOf({ body }: MediaReply): unknown {
  return body instanceof Uint8Array ? undefined : body;
}

function stateTable(
  { at: _, ...states }: StateDeclaration,
): ReadonlyMap<string, JobStatus["state"]> {
  return new Map(
    Object.entries(states).flatMap(([state, words]) =>
      [words].flat().map((word) => [word, state as JobStatus["state"]] as const)
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

/** A data URL holds its bytes; a path is one of the provider's own. */
function fromUrl(
  url: string,
  mimeType: string | null,
  { baseUrl }: UpstreamTarget,
  withKey: boolean,
): UpstreamOutput {
  if (url.startsWith("data:")) return fromBase64(url, mimeType);
  const { protocol, href } = new URL(url.startsWith("/") ? join(baseUrl, url) : url);
  if (!/^https?:$/.test(protocol)) throw new TypeError("an output is at no web address");
  return { url: href, headers: {}, mimeType, ...(withKey ? { withKey } : {}) };
}

function percent(value: unknown): number | null {
  const number = amount(value);
  return number === undefined ? null : Math.min(100, Math.floor(number));
}

/** A number of something, also where it comes as text. */
function amount(value: unknown): number | undefined {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? number : undefined;
}
