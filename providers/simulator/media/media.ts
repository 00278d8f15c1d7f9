import { type Plan, planError, planRefusal, planUntold, planWhole } from "../misbehave.ts";
import { type Orders, parseOrders } from "../directives.ts";
import { errorOf, WireError } from "../wire_error.ts";
import { idOf, type Job, jobOf, outputCount, stateAt } from "./job.ts";
import { planOutput, PRIVATE_ADDRESS } from "./plan_output.ts";
import { readBody, readJob, readPrompt } from "./read_job.ts";
import { EXTENSIONS, MIME_TYPES, Renderer } from "./render.ts";
import { Sounds } from "./sounds.ts";
import { planSpeech } from "./plan_speech.ts";
import { sleep } from "../../../src/lib/timers.ts";

/** The simulator's API for what is made in the background, and for speech. */
export interface Media {
  /** Null for an address that is not one of its own. */
  plan(request: Request): Promise<Plan> | null;
  /** How often each reference was handed in and accepted. */
  readonly submissions: ReadonlyMap<string, number>;
}

export interface MediaOptions {
  readonly standing: Orders;
  readonly now: () => number;
  /** Lifts orders that hold for the first requests of a name only. */
  readonly ordersNow: (orders: Orders) => Orders;
}

/** The place of a request behind the base address, which may itself have a path. */
const PLACE =
  /^\/(?:media\/jobs(?:\/([^/]+)(\/cancel)?)?|media\/outputs\/([^/]+)\/(\d+)\.\w+|audio\/speech)$/;
const LATE_MS = 1_000;
/** Jobs live in their ids. What is remembered besides is bounded, and lost with the process. */
const REMEMBERED_MAX = 20_000;

export function openMedia({ standing, now, ordersNow }: MediaOptions): Media {
  const submissions = new Bounded<string, number>(REMEMBERED_MAX);
  const ids = new Bounded<string, string>(REMEMBERED_MAX);
  const cancelled = new Bounded<string, number>(REMEMBERED_MAX);
  const looks = new Bounded<string, number>(REMEMBERED_MAX);
  const sounds = new Sounds();
  const renderer = new Renderer(sounds);

  async function submit(request: Request): Promise<Plan> {
    const declared = { ...standing, ...parseOrders(request.headers.get("x-simulate") ?? "") };
    const body = await readBody(request);
    const { orders: asked, prompt } = readPrompt(body.fields, declared);
    const orders = ordersNow(asked);
    const refusal = planRefusal(orders);
    if (refusal !== null) return refusal;
    const job = await readJob(body, prompt, orders, now());
    for (const { role, bytes } of body.inputs) if (role === "audio") sounds.keep(bytes);
    const late = orders.accept_after === undefined ? null : sleep(orders.accept_after);
    // Who closes at once has not accepted yet.
    if (late !== null && orders.accept_and_close) void late.then(() => accept(job));
    else {
      await late;
      accept(job);
    }
    const untold = planUntold(orders);
    if (untold !== null) return untold;
    const id = ids.get(job.reference)!;
    return planWhole(await view(id, jobOf(id)!, request.url), orders);
  }

  function accept(job: Job): void {
    ids.set(job.reference, ids.get(job.reference) ?? idOf(job));
    submissions.set(job.reference, (submissions.get(job.reference) ?? 0) + 1);
  }

  async function look(id: string, url: string): Promise<Plan> {
    const job = known(id);
    const { poll_status, poll_fails } = job.orders;
    if (poll_status !== undefined || poll_fails !== undefined) {
      const count = (looks.get(id) ?? 0) + 1;
      looks.set(id, count);
      if (count <= (poll_fails ?? Infinity)) return planError(errorOf(poll_status ?? 500));
    }
    return planWhole(await view(id, job, url), {});
  }

  async function cancel(id: string, url: string): Promise<Plan> {
    const job = known(id);
    if (job.orders.cancel === "refused") {
      throw new WireError(409, "This job can no longer be cancelled.", null, "not_cancellable");
    }
    const isOver = ["succeeded", "failed"].includes(stateAt(job, now()).status);
    if (!isOver && !cancelled.has(id) && job.orders.cancel !== "ignored") {
      cancelled.set(id, now());
    }
    return planWhole(await view(id, job, url), {});
  }

  function find(url: string): Plan {
    const reference = new URL(url).searchParams.get("reference") ?? "";
    const id = ids.get(reference);
    return planWhole(
      JSON.stringify({ object: "list", data: id === undefined ? [] : [{ id }] }),
      {},
    );
  }

  async function output(id: string, index: number): Promise<Plan> {
    const job = known(id);
    const isThere = index < outputCount(job) && stateAt(job, now()).status === "succeeded";
    if (!isThere) throw unknownAddress("GET", "output");
    return planOutput(await renderer.render(job, index), job);
  }

  /** A job as its owner sees it. */
  async function view(id: string, job: Job, url: string): Promise<string> {
    const cancelledMs = cancelled.get(id);
    const isLate = job.orders.cancel === "late" && now() < (cancelledMs ?? 0) + LATE_MS;
    const state = cancelledMs === undefined
      ? stateAt(job, now())
      : isLate
      ? { status: "cancelling", progress: null }
      : { status: "cancelled" as const };
    const shown = { id, object: "media.job", reference: job.reference, ...state };
    switch (state.status) {
      case "succeeded":
        return JSON.stringify({
          ...shown,
          outputs: await outputsOf(id, job, url),
          usage: usageOf(job),
        });
      case "failed":
        return JSON.stringify({
          ...shown,
          error: { code: "generation_failed", message: "The simulator was told to fail." },
        });
      case "cancelled":
        return JSON.stringify({
          ...shown,
          usage: job.orders.cancel === "billed" ? usageOf(job) : null,
        });
      default:
        return JSON.stringify(shown);
    }
  }

  async function outputsOf(id: string, job: Job, url: string) {
    const base = partedBase(url).base;
    const outputs = [];
    for (let index = 0; index < outputCount(job); index++) {
      const mime_type = MIME_TYPES[job.type];
      if (job.orders.output === "inline") {
        outputs.push({ b64: (await renderer.render(job, index)).toBase64(), mime_type });
        continue;
      }
      const address = job.orders.output === "private"
        ? `${PRIVATE_ADDRESS}${index}`
        : `${base}/media/outputs/${id}/${index}.${EXTENSIONS[job.type]}`;
      outputs.push({ url: address, mime_type });
    }
    return job.orders.duplicate ? [...outputs, ...outputs] : outputs;
  }

  return {
    submissions,
    plan(request) {
      const found = PLACE.exec(partedBase(request.url).place);
      if (found === null) return null;
      const [address, jobId, isCancel, outputId, index] = found;
      const { method, url } = request;
      return answer(async () => {
        if (address.startsWith("/audio/speech")) {
          if (method !== "POST") throw unknownAddress(method, "audio/speech");
          return await planSpeech(request, standing, ordersNow);
        }
        if (outputId !== undefined && method === "GET") {
          return await output(outputId, Number(index));
        }
        if (jobId === undefined && method === "POST") return await submit(request);
        if (jobId === undefined && method === "GET") return find(url);
        if (isCancel !== undefined && method === "POST") return await cancel(jobId!, url);
        if (isCancel === undefined && jobId !== undefined && method === "GET") {
          return await look(jobId, url);
        }
        throw unknownAddress(method, "media");
      });
    },
  };
}

/** Cuts an address where one of our places begins, and takes its query off. */
function partedBase(url: string): { base: string; place: string } {
  const path = url.split("?")[0]!;
  const at = ["/media/jobs", "/media/outputs/", "/audio/speech"]
    .map((place) => path.lastIndexOf(place)).find((found) => found !== -1) ?? path.length;
  return { base: path.slice(0, at), place: path.slice(at) };
}

async function answer(plan: () => Promise<Plan>): Promise<Plan> {
  try {
    return await plan();
  } catch (error) {
    if (error instanceof WireError) return planError(error);
    throw error;
  }
}

function known(id: string): Job {
  const job = jobOf(id);
  if (job === null) throw new WireError(404, "No such job.", null, "job_not_found");
  return job;
}

function unknownAddress(method: string, path: string): WireError {
  return new WireError(404, `Invalid URL (${method} /v1/${path})`, null, "unknown_url");
}

function usageOf(job: Job): { outputs: number; duration_ms?: number } | null {
  if (job.orders.no_usage) return null;
  const times = job.orders.overstate ? 2 : 1;
  const outputs = outputCount(job) * times;
  return job.lengthMs === null ? { outputs } : { outputs, duration_ms: job.lengthMs * times };
}

/** Forgets what came first when there is too much. */
class Bounded<K, V> extends Map<K, V> {
  constructor(readonly max: number) {
    super();
  }

  override set(key: K, value: V): this {
    if (this.size >= this.max && !this.has(key)) this.delete(this.keys().next().value!);
    return super.set(key, value);
  }
}
