import type { UpstreamTarget } from "../../src/upstream/adapter.ts";
import { fetchOutput } from "../../src/upstream/fetch_output.ts";
import type {
  JobStatus,
  MediaInput,
  MediaJob,
  Submitted,
  UpstreamOutput,
} from "../../src/upstream/media_adapter.ts";
import { runOperation, type UpstreamCall } from "../../src/upstream/run_operation.ts";
import { baseUrl, openSimulator, type Simulator } from "../../providers/simulator/simulator.ts";
import { media } from "../../providers/simulator/media/adapter.ts";

/** Calls the simulator as the gateway does, with a clock that the test sets. */
export class MediaClient {
  nowMs = Date.UTC(2026, 0, 1);
  simulator: Simulator = openSimulator({ now: () => this.nowMs });

  constructor(readonly directives = "", readonly served: { baseUrl: string } | null = null) {}

  get call(): UpstreamCall {
    const target: UpstreamTarget = {
      model: "video",
      baseUrl: this.served?.baseUrl ?? baseUrl,
      apiKey: null,
      headers: { "x-simulate": this.directives },
    };
    return {
      transport: this.served === null ? this.simulator.transport : undefined,
      http1: null,
      faults: media.video,
      target,
      timeoutMs: 30_000,
      signal: new AbortController().signal,
    };
  }

  /** A new simulator, which remembers nothing. */
  restart(): void {
    this.simulator = openSimulator({ now: () => this.nowMs });
  }

  async submit(partial: Partial<MediaJob>): Promise<Submitted> {
    const job = jobOf(partial);
    return await runOperation(this.call, media[job.type].submit, { job, prepared: [] });
  }

  async poll(id: string): Promise<JobStatus> {
    return await runOperation(this.call, media.video.poll!, id) as JobStatus;
  }

  async cancel(id: string): Promise<JobStatus | null> {
    return await runOperation(this.call, media.video.cancel!, id);
  }

  async find(reference: string): Promise<string | null> {
    return await runOperation(this.call, media.video.find!, reference);
  }

  async fetch(output: UpstreamOutput, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const { body } = await fetchOutput(output, {
      silenceMs: 30_000,
      ...this.call,
      ...(signal && { signal }),
      fetchSafely: () => Promise.reject(new Error("not a URL of the simulator")),
      allowPrivate: false,
      keyHeaders: () => ({}),
    });
    return new Uint8Array(await new Response(body).arrayBuffer());
  }

  /** Submits a job, waits for its end and fetches its outputs. */
  async make(job: Partial<MediaJob>): Promise<Uint8Array<ArrayBuffer>[]> {
    const { id } = await this.submit(job);
    this.nowMs += 3_600_000;
    const seen = await this.poll(id!);
    if (seen.state !== "succeeded") throw new Error(seen.state);
    return await Promise.all(seen.outputs.map((output) => this.fetch(output)));
  }
}

export function jobOf(job: Partial<MediaJob>): MediaJob {
  return {
    type: "video",
    reference: "task_1",
    prompt: "A tide",
    parameters: {},
    inputs: [],
    callbackUrl: null,
    ...job,
  };
}

export function inputOf(
  role: MediaInput["role"],
  bytes: Uint8Array<ArrayBuffer>,
  mimeType: string,
): MediaInput {
  return { role, mimeType, filename: `input.${mimeType.split("/")[1]}`, url: null, bytes };
}
