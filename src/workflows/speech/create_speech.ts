import { ApiError } from "../../lib/api_error.ts";
import type { Config, Model, Upstream } from "../../platform/config/config.ts";
import type { Ledger } from "../../domain/ledger/ledger.ts";
import { costAttribution } from "../../domain/pricing/cost_attribution.ts";
import { chargeUsage, type Quote } from "../../domain/pricing/quote.ts";
import type { Usage } from "../../model_types/usage.ts";
import { upstreamName } from "../../upstream/admission.ts";
import { UpstreamFailure } from "../../upstream/failure.ts";
import { jobError } from "../../upstream/job_error.ts";
import type { JobStatus, MediaUsage, Submitted } from "../../upstream/media_adapter.ts";
import type { MediaCalls, UpstreamAssignment } from "../../upstream/media_calls.ts";
import { bytesDuration } from "../../lib/media_duration/media_duration.ts";
import { sleep } from "../../lib/timers.ts";
import { type CheckedSpeech, MIME_TYPES, type SpeechFormat } from "../../model_types/speech.ts";

export interface SpeechDeps {
  ledger: Ledger;
  media: MediaCalls;
}

export interface SpeechCall {
  requestId: string;
  clientRequestId: string | null;
  config: Config;
  account: string;
  model: Model;
  quote: Quote;
  speech: CheckedSpeech["job"];
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
}

/** Longest total time of a request; its hold lasts a little longer. */
const TOTAL_MS = 300_000;
const HOLD_SECONDS = TOTAL_MS / 1000 + 60;
/** How long finished speech waits for its settlement. */
const SETTLE_MS = 10_000;
const AUDIO_BYTES_MAX = 256 * 1024 * 1024;

interface SynthesizedSpeech {
  bytes: Uint8Array<ArrayBuffer>;
  usage: MediaUsage | null;
  upstream: Upstream;
}

/** Synthesizes speech within the request: hold, call, settle. A failure releases the hold. */
export async function synthesizeSpeech(
  deps: SpeechDeps,
  call: SpeechCall,
): Promise<Uint8Array<ArrayBuffer>> {
  await using hold = await deps.ledger.hold({
    id: call.requestId,
    account: call.account,
    quote: call.quote,
    clientRequestId: call.clientRequestId ?? undefined,
    ttlSeconds: HOLD_SECONDS,
    isRenewed: true,
  });
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(TOTAL_MS)]);
  const { bytes, usage, upstream } = await callFirstAvailable(deps.media, call, signal);
  const used = await usageOf(call, bytes, usage);
  await hold.settle(chargeUsage(call.quote, used, costAttribution(upstream, used)), SETTLE_MS);
  return bytes;
}

async function callFirstAvailable(
  media: MediaCalls,
  call: SpeechCall,
  signal: AbortSignal,
): Promise<SynthesizedSpeech> {
  const { config, model } = call;
  const tried: string[] = [];
  let last: UpstreamFailure | null = null;
  while (true) {
    const choice = media.choose(config, model, tried, { account: call.account });
    if (choice.upstream === null) {
      if (last !== null) throw jobError(last.kind, last.options.param);
      throw noSpeechUpstream(model, choice.retryAfterMs);
    }
    const assignment: UpstreamAssignment = { config, model, upstream: choice.upstream };
    try {
      return { ...await callUpstream(media, assignment, call, signal), upstream: choice.upstream };
    } catch (error) {
      // The total time is over, or the client disconnected.
      if (signal.aborted) throw jobError("timeout");
      if (!(error instanceof UpstreamFailure)) throw error;
      // The upstream may have made it and charge for it: another upstream would charge a second time.
      if (error.isRejection || error.received === "unknown") {
        throw jobError(error.kind, error.options.param);
      }
      last = error;
      tried.push(upstreamName(choice.upstream));
    }
  }
}

async function callUpstream(
  media: MediaCalls,
  assignment: UpstreamAssignment,
  { requestId, speech, account }: SpeechCall,
  signal: AbortSignal,
): Promise<Omit<SynthesizedSpeech, "upstream">> {
  const { seconds_max: _, ...parameters } = speech.parameters;
  const submitted = await media.submit(
    assignment,
    {
      type: "speech",
      reference: requestId,
      prompt: speech.prompt,
      parameters,
      inputs: [],
      callbackUrl: null,
    },
    signal,
    { account },
  );
  try {
    return await audioOf(media, assignment, submitted, signal);
  } catch (error) {
    // The job was accepted: unless the upstream reports that it failed, it may charge for it.
    if (!(error instanceof UpstreamFailure) || error instanceof JobFailed) throw error;
    throw new UpstreamFailure(error.kind, error.message, { ...error.options, received: "unknown" });
  }
}

/** The upstream reports that the job failed. */
class JobFailed extends UpstreamFailure {}

async function audioOf(
  media: MediaCalls,
  assignment: UpstreamAssignment,
  submitted: Submitted,
  signal: AbortSignal,
): Promise<Omit<SynthesizedSpeech, "upstream">> {
  const status = submitted.id === null
    ? submitted.status
    : await pollUntilDone(media, assignment, submitted, signal);
  if (status.state === "failed") {
    const { kind, param } = status.fault;
    throw new JobFailed(kind, "the job failed", { param, received: "declined" });
  }
  const output = status.state === "succeeded" ? status.outputs[0] : undefined;
  if (status.state !== "succeeded" || output === undefined) {
    throw new UpstreamFailure("failed", "the job has no audio output");
  }
  const { body } = await media.fetchOutput(assignment, output, signal);
  const bytes = await readAll(body);
  if (bytes.length === 0) throw new UpstreamFailure("unreadable", "the audio is empty");
  return { bytes, usage: status.usage };
}

/** Some providers make speech in the background: polls until the job ends. */
async function pollUntilDone(
  media: MediaCalls,
  assignment: UpstreamAssignment,
  { id, status: first }: Extract<Submitted, { id: string }>,
  signal: AbortSignal,
): Promise<JobStatus> {
  const { firstMs, maxMs } = media.polling(assignment);
  let status = first;
  for (let delayMs = firstMs;; delayMs = Math.min(maxMs, delayMs * 1.5)) {
    if (status !== undefined && status.state !== "queued" && status.state !== "running") {
      return status;
    }
    await sleep(delayMs, signal);
    status = await media.getStatus(assignment, id, signal);
  }
}

async function readAll(body: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  let length = 0;
  const counted = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        length += piece.length;
        if (length > AUDIO_BYTES_MAX) controller.error(new Error("the audio is too large"));
        else controller.enqueue(piece);
      },
    }),
  );
  return await new Response(counted as ReadableStream<Uint8Array<ArrayBuffer>>).bytes().catch(
    (cause) => {
      throw new UpstreamFailure("cut", "the audio ended too early", { cause });
    },
  );
}

/** Characters of the input; duration as the provider reports it, else of the audio, at most what was held. */
async function usageOf(
  { speech }: SpeechCall,
  bytes: Uint8Array,
  reported: MediaUsage | null,
): Promise<Usage> {
  const { response_format, seconds_max } = speech.parameters;
  const reportedMs = reported?.durationMs;
  const ms = Number.isFinite(reportedMs) ? reportedMs! : await measuredMs(bytes, response_format);
  const maxMs = seconds_max * 1000;
  const billed = ms === null ? maxMs : Math.min(maxMs, Math.max(0, Math.round(ms)));
  return {
    characters: [...speech.prompt].length,
    calls: 1,
    seconds: `${Math.floor(billed / 1000)}.${String(billed % 1000).padStart(3, "0")}`,
    ...(ms === null ? { estimated: true } : {}),
  };
}

async function measuredMs(bytes: Uint8Array, format: SpeechFormat): Promise<number | null> {
  const seconds = await bytesDuration(bytes, MIME_TYPES[format]);
  return seconds === null ? null : seconds * 1000;
}

/** No upstream is available now. */
export function noSpeechUpstream(model: Model, retryAfterMs: number | null): ApiError {
  return new ApiError(
    "model_unavailable",
    `The model "${model.id}" is temporarily unavailable. Try again later.`,
    {
      kind: "unavailable",
      param: "model",
      retryAfterSeconds: Math.ceil((retryAfterMs ?? 1000) / 1000),
    },
  );
}
