import type { UpstreamTarget } from "../../src/upstream/adapter.ts";
import { exchangeMedia, type MediaExchange } from "../../src/upstream/exchange_media.ts";
import { fetchOutput } from "../../src/upstream/fetch_output.ts";
import type {
  JobStatus,
  MediaInput,
  MediaJob,
  Submitted,
  UpstreamOutput,
} from "../../src/upstream/media_adapter.ts";
import { baseUrl, openSimulator, type Simulator } from "../../providers/simulator/simulator.ts";
import { media } from "../../providers/simulator/media/adapter.ts";

/** Calls the simulator as the gateway does, with a clock that the test sets. */
export class MediaClient {
  nowMs = Date.UTC(2026, 0, 1);
  simulator: Simulator = openSimulator({ now: () => this.nowMs });

  constructor(readonly directives = "", readonly served: { baseUrl: string } | null = null) {}

  get exchange(): MediaExchange {
    const target: UpstreamTarget = {
      model: "video",
      baseUrl: this.served?.baseUrl ?? baseUrl,
      apiKey: null,
      headers: { "x-simulate": this.directives },
    };
    const transport = this.served === null ? this.simulator.transport : undefined;
    return {
      transport,
      http1: null,
      target,
      timeoutMs: 30_000,
      signal: new AbortController().signal,
    };
  }

  /** A new simulator, which remembers nothing. */
  restart(): void {
    this.simulator = openSimulator({ now: () => this.nowMs });
  }

  async submit(job: Partial<MediaJob>): Promise<Submitted> {
    const whole = jobOf(job);
    const adapter = media[whole.type];
    const { target } = this.exchange;
    const reply = await exchangeMedia(
      this.exchange,
      adapter,
      await adapter.submit(whole, target, []),
    );
    return await adapter.readSubmitted(reply, whole, target);
  }

  async poll(id: string): Promise<JobStatus> {
    const { poll, readPolled } = media.video;
    const { target } = this.exchange;
    return await readPolled!(
      await exchangeMedia(this.exchange, media.video, await poll!(id, target)),
      target,
      id,
    ) as JobStatus;
  }

  async cancel(id: string): Promise<JobStatus | null> {
    const { cancel, readCancelled } = media.video;
    return await readCancelled!(
      await exchangeMedia(this.exchange, media.video, await cancel!(id, this.exchange.target)),
    );
  }

  async find(reference: string): Promise<string | null> {
    const { find, readFound } = media.video;
    const reply = await exchangeMedia(
      this.exchange,
      media.video,
      await find!(reference, this.exchange.target),
    );
    return await readFound!(reply, reference);
  }

  async fetch(output: UpstreamOutput, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const { body } = await fetchOutput(output, {
      silenceMs: 30_000,
      ...this.exchange,
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
