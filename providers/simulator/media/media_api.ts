import { sleep } from "../../../src/lib/timers.ts";
import { type Directives, type FailLimit, parseDirectives, takeDirectives } from "../directives.ts";
import { readString } from "../fields.ts";
import {
  planError,
  planLostAnswer,
  planWhole,
  planWithoutWork,
  type ResponsePlan,
} from "../plan_response.ts";
import { errorOf, WireError } from "../wire_error.ts";
import { AudioReader } from "./audio_reader.ts";
import { AudioStore } from "./audio_store.ts";
import { idOf, jobOf, outputCount, type SimulatedJob, stateAt } from "./job.ts";
import { planOutput, PRIVATE_ADDRESS } from "./plan_output.ts";
import { planSpeech } from "./plan_speech.ts";
import { readBody, readJob } from "./read_job.ts";
import { EXTENSIONS, MIME_TYPES, Renderer } from "./render.ts";

/** The simulator's API for media jobs and speech. */
export interface MediaApi {
  /** Null for a URL that is not one of this API. */
  plan(request: Request): Promise<ResponsePlan> | null;
  /** How often each job was submitted and accepted, by its reference. */
  readonly submissions: ReadonlyMap<string, number>;
}

export interface MediaApiOptions {
  readonly defaults: Directives;
  readonly now: () => number;
  readonly failLimit: FailLimit;
}

/** Paths below the base URL, which may have a path itself. */
const PATHS =
  /^\/(?:media\/jobs(?:\/([^/]+)(\/cancel)?)?|media\/outputs\/([^/]+)\/(\d+)\.\w+|audio\/speech)$/;
const LATE_MS = 1_000;
/** A job's id holds the job. What is remembered besides is limited, and lost with the process. */
const REMEMBERED_MAX = 20_000;

export function openMediaApi(options: MediaApiOptions): MediaApi {
  const api = new Jobs(options);
  return {
    submissions: api.submissions,
    plan(request) {
      const match = PATHS.exec(splitUrl(request.url).path);
      if (match === null) return null;
      const [path, jobId, isCancel, outputId, index] = match;
      const { method, url } = request;
      return planOrError(async () => {
        if (path.startsWith("/audio/speech")) {
          if (method !== "POST") throw unknownUrl(method, "audio/speech");
          return await planSpeech(request, options);
        }
        if (outputId !== undefined && method === "GET") {
          return await api.output(outputId, Number(index));
        }
        if (jobId === undefined && method === "POST") return await api.submit(request);
        if (jobId === undefined && method === "GET") return api.find(url);
        if (isCancel !== undefined && method === "POST") return await api.cancel(jobId!, url);
        if (isCancel === undefined && jobId !== undefined && method === "GET") {
          return await api.poll(jobId, url);
        }
        throw unknownUrl(method, "media");
      });
    },
  };
}

class Jobs {
  readonly submissions = new LimitedMap<string, number>(REMEMBERED_MAX);
  readonly #ids = new LimitedMap<string, string>(REMEMBERED_MAX);
  readonly #cancelledMs = new LimitedMap<string, number>(REMEMBERED_MAX);
  readonly #pollCounts = new LimitedMap<string, number>(REMEMBERED_MAX);
  readonly #audio = new AudioStore();
  readonly #audioReader = new AudioReader();
  readonly #renderer = new Renderer(this.#audio, this.#audioReader);

  constructor(private readonly options: MediaApiOptions) {}

  async submit(request: Request): Promise<ResponsePlan> {
    const { defaults, failLimit, now } = this.options;
    const header = parseDirectives(request.headers.get("x-simulate") ?? "");
    const configured = { ...defaults, ...header };
    const body = await readBody(request);
    const written = readString(body.fields, "prompt") ?? "";
    const { directives: requested, rest: prompt } = takeDirectives(written, configured);
    const directives = failLimit.apply({ ...configured, ...requested });
    const immediate = planWithoutWork(directives);
    if (immediate !== null) return immediate;
    const audioReader = this.#audioReader;
    const job = await readJob(body, { prompt, directives, nowMs: now(), audioReader });
    for (const { role, bytes } of body.inputs) if (role === "audio") this.#audio.add(bytes);
    const delay = directives.accept_after === undefined ? null : sleep(directives.accept_after);
    // With both directives the connection closes before the job is accepted.
    if (delay !== null && directives.accept_and_close) void delay.then(() => this.#accept(job));
    else {
      await delay;
      this.#accept(job);
    }
    const lost = planLostAnswer(directives);
    if (lost !== null) return lost;
    const id = this.#ids.get(job.reference)!;
    return planWhole(await this.#render(id, jobOf(id)!, request.url), directives);
  }

  #accept(job: SimulatedJob): void {
    this.#ids.set(job.reference, this.#ids.get(job.reference) ?? idOf(job));
    this.submissions.set(job.reference, (this.submissions.get(job.reference) ?? 0) + 1);
  }

  async poll(id: string, url: string): Promise<ResponsePlan> {
    const job = findJob(id);
    const { poll_status, poll_fails } = job.directives;
    if (poll_status !== undefined || poll_fails !== undefined) {
      const count = (this.#pollCounts.get(id) ?? 0) + 1;
      this.#pollCounts.set(id, count);
      if (count <= (poll_fails ?? Infinity)) return planError(errorOf(poll_status ?? 500));
    }
    return planWhole(await this.#render(id, job, url), {});
  }

  async cancel(id: string, url: string): Promise<ResponsePlan> {
    const job = findJob(id);
    if (job.directives.cancel === "refused") {
      throw new WireError(409, "This job can no longer be cancelled.", null, "not_cancellable");
    }
    const nowMs = this.options.now();
    const isFinished = ["succeeded", "failed"].includes(stateAt(job, nowMs).status);
    if (!isFinished && !this.#cancelledMs.has(id) && job.directives.cancel !== "ignored") {
      this.#cancelledMs.set(id, nowMs);
    }
    return planWhole(await this.#render(id, job, url), {});
  }

  find(url: string): ResponsePlan {
    const reference = new URL(url).searchParams.get("reference") ?? "";
    const id = this.#ids.get(reference);
    const data = id === undefined ? [] : [{ id }];
    return planWhole(JSON.stringify({ object: "list", data }), {});
  }

  async output(id: string, index: number): Promise<ResponsePlan> {
    const job = findJob(id);
    const hasOutput = index < outputCount(job) &&
      stateAt(job, this.options.now()).status === "succeeded";
    if (!hasOutput) throw unknownUrl("GET", "output");
    return planOutput(await this.#renderer.render(job, index), job);
  }

  /** The JSON of a job. */
  async #render(id: string, job: SimulatedJob, url: string): Promise<string> {
    const state = this.#stateOf(id, job);
    const fields = { id, object: "media.job", reference: job.reference, ...state };
    switch (state.status) {
      case "succeeded": {
        const outputs = await this.#outputsOf(id, job, url);
        return JSON.stringify({ ...fields, outputs, usage: usageOf(job) });
      }
      case "failed": {
        const message = "The job failed, as the directive fail_at says.";
        return JSON.stringify({ ...fields, error: { code: "generation_failed", message } });
      }
      case "cancelled": {
        const usage = job.directives.cancel === "billed" ? usageOf(job) : null;
        return JSON.stringify({ ...fields, usage });
      }
      default:
        return JSON.stringify(fields);
    }
  }

  #stateOf(id: string, job: SimulatedJob) {
    const nowMs = this.options.now();
    const cancelledMs = this.#cancelledMs.get(id);
    if (cancelledMs === undefined) return stateAt(job, nowMs);
    const isCancelling = job.directives.cancel === "late" && nowMs < cancelledMs + LATE_MS;
    return isCancelling
      ? { status: "cancelling", progress: null }
      : { status: "cancelled" as const };
  }

  async #outputsOf(id: string, job: SimulatedJob, url: string) {
    const { base } = splitUrl(url);
    const outputs = [];
    for (let index = 0; index < outputCount(job); index++) {
      const mime_type = MIME_TYPES[job.type];
      if (job.directives.output === "inline") {
        outputs.push({ b64: (await this.#renderer.render(job, index)).toBase64(), mime_type });
        continue;
      }
      const outputUrl = job.directives.output === "private"
        ? `${PRIVATE_ADDRESS}${index}`
        : `${base}/media/outputs/${id}/${index}.${EXTENSIONS[job.type]}`;
      outputs.push({ url: outputUrl, mime_type });
    }
    return job.directives.duplicate ? [...outputs, ...outputs] : outputs;
  }
}

/** Splits a URL where a path of this API begins, and drops its query. */
function splitUrl(url: string): { base: string; path: string } {
  const whole = url.split("?")[0]!;
  const at = ["/media/jobs", "/media/outputs/", "/audio/speech"]
    .map((path) => whole.lastIndexOf(path)).find((found) => found !== -1) ?? whole.length;
  return { base: whole.slice(0, at), path: whole.slice(at) };
}

async function planOrError(plan: () => Promise<ResponsePlan>): Promise<ResponsePlan> {
  try {
    return await plan();
  } catch (error) {
    if (error instanceof WireError) return planError(error);
    throw error;
  }
}

function findJob(id: string): SimulatedJob {
  const job = jobOf(id);
  if (job === null) throw new WireError(404, "No such job.", null, "job_not_found");
  return job;
}

function unknownUrl(method: string, path: string): WireError {
  return new WireError(404, `Invalid URL (${method} /v1/${path})`, null, "unknown_url");
}

function usageOf(job: SimulatedJob): { outputs: number; duration_ms?: number } | null {
  if (job.directives.no_usage) return null;
  const factor = job.directives.overstate ? 2 : 1;
  const outputs = outputCount(job) * factor;
  return job.lengthMs === null ? { outputs } : { outputs, duration_ms: job.lengthMs * factor };
}

/** Evicts the oldest entry when it is full. */
class LimitedMap<K, V> extends Map<K, V> {
  constructor(readonly max: number) {
    super();
  }

  override set(key: K, value: V): this {
    if (this.size >= this.max && !this.has(key)) this.delete(this.keys().next().value!);
    return super.set(key, value);
  }
}
