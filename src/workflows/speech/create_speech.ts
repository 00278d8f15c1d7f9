import { ApiError } from "../../lib/api_error.ts";
import type { Config, Model, Upstream } from "../../platform/config/config.ts";
import type { Ledger } from "../../domain/ledger/ledger.ts";
import { costAttribution } from "../../domain/pricing/cost_attribution.ts";
import { chargeUsage, type Quote } from "../../domain/pricing/quote.ts";
import type { Usage } from "../../domain/pricing/usage.ts";
import { upstreamName } from "../../upstream/admission.ts";
import { UpstreamFailure } from "../../upstream/failure.ts";
import { jobError } from "../../upstream/job_error.ts";
import type { JobStatus, MediaUsage, Submitted } from "../../upstream/media_adapter.ts";
import type { MediaCalls, UpstreamAssignment } from "../../upstream/media_calls.ts";
import { type CheckedSpeech, MIME_TYPES, type SpeechFormat } from "./check_speech.ts";
import { bytesDuration } from "../../lib/media_duration/media_duration.ts";
import { sleep } from "../../lib/timers.ts";

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
  /** Aborts when the client leaves. */
  signal: AbortSignal;
}

/** Longest a sound may take in all; its hold outlives it by a little. */
const TOTAL_MS = 300_000;
const HOLD_SECONDS = TOTAL_MS / 1000 + 60;
/** How long speech that is there waits for the database to be settled in. */
const SETTLE_MS = 10_000;
const SOUND_BYTES_MAX = 256 * 1024 * 1024;

interface Spoken {
  bytes: Uint8Array<ArrayBuffer>;
  usage: MediaUsage | null;
  upstream: Upstream;
}

/** Speech at once, from the price to the receipt. A failure releases everything. */
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
  const { bytes, usage, upstream } = await firstThatSpeaks(deps.media, call, signal);
  const used = await usageOf(call, bytes, usage);
  await hold.settle(chargeUsage(call.quote, used, costAttribution(upstream, used)), SETTLE_MS);
  return bytes;
}

async function firstThatSpeaks(
  media: MediaCalls,
  call: SpeechCall,
  signal: AbortSignal,
): Promise<Spoken> {
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
      return { ...await speakAt(media, assignment, call, signal), upstream: choice.upstream };
    } catch (error) {
      // Out of time, or nobody listens any more: neither is a fault of ours.
      if (signal.aborted) throw jobError("timeout");
      if (!(error instanceof UpstreamFailure)) throw error;
      // It may have been made, and paid for: another upstream would be paid a second time.
      if (error.isRejection || error.sent === "maybe") {
        throw jobError(error.kind, error.options.param);
      }
      last = error;
      tried.push(upstreamName(choice.upstream));
    }
  }
}

async function speakAt(
  media: MediaCalls,
  assignment: UpstreamAssignment,
  { requestId, speech, account }: SpeechCall,
  signal: AbortSignal,
): Promise<Omit<Spoken, "upstream">> {
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
    return await soundOf(media, assignment, submitted, signal);
  } catch (error) {
    // The job was accepted: unless it says itself that it failed, it may be paid for.
    if (!(error instanceof UpstreamFailure) || error instanceof JobFailed) throw error;
    throw new UpstreamFailure(error.kind, error.message, { ...error.options, sent: "maybe" });
  }
}

/** The upstream says that the job came to nothing. */
class JobFailed extends UpstreamFailure {}

async function soundOf(
  media: MediaCalls,
  assignment: UpstreamAssignment,
  submitted: Submitted,
  signal: AbortSignal,
): Promise<Omit<Spoken, "upstream">> {
  const seen = submitted.id === null
    ? submitted.seen
    : await outcomeOf(media, assignment, submitted.id, submitted.seen, signal);
  if (seen.state === "failed") {
    const { kind, param } = seen.fault;
    throw new JobFailed(kind, "the job failed", { param, sent: "refused" });
  }
  const output = seen.state === "succeeded" ? seen.outputs[0] : undefined;
  if (seen.state !== "succeeded" || output === undefined) {
    throw new UpstreamFailure("failed", "there is no sound");
  }
  const { body } = await media.fetchOutput(assignment, output, signal);
  const bytes = await readAll(body);
  if (bytes.length === 0) throw new UpstreamFailure("unreadable", "the sound is empty");
  return { bytes, usage: seen.usage };
}

/** Some make speech in the background: they are looked at until it is there. */
async function outcomeOf(
  media: MediaCalls,
  assignment: UpstreamAssignment,
  id: string,
  first: JobStatus | undefined,
  signal: AbortSignal,
): Promise<JobStatus> {
  const { firstMs, maxMs } = media.polling(assignment);
  let seen = first;
  for (let pace = firstMs;; pace = Math.min(maxMs, pace * 1.5)) {
    if (seen !== undefined && seen.state !== "queued" && seen.state !== "running") return seen;
    await sleep(pace, signal);
    seen = await media.look(assignment, id, signal);
  }
}

async function readAll(body: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  let length = 0;
  const counted = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        length += piece.length;
        if (length > SOUND_BYTES_MAX) controller.error(new Error("the sound is too large"));
        else controller.enqueue(piece);
      },
    }),
  );
  return await new Response(counted as ReadableStream<Uint8Array<ArrayBuffer>>).bytes().catch(
    (cause) => {
      throw new UpstreamFailure("cut", "the sound broke off", { cause });
    },
  );
}

/** Characters as sent; time as the provider counts it, or as the sound lasts, at most what was held. */
async function usageOf(
  { speech }: SpeechCall,
  bytes: Uint8Array,
  said: MediaUsage | null,
): Promise<Usage> {
  const { response_format, seconds_max } = speech.parameters;
  const told = said?.durationMs;
  const ms = Number.isFinite(told) ? told! : await measuredMs(bytes, response_format);
  const most = seconds_max * 1000;
  const billed = ms === null ? most : Math.min(most, Math.max(0, Math.round(ms)));
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

/** No upstream can be asked now. */
export function noSpeechUpstream(model: Model, retryAfterMs: number | null): ApiError {
  return new ApiError(
    "model_unavailable",
    `The model "${model.id}" cannot answer just now: try again soon.`,
    { status: 503, param: "model", retryAfterSeconds: Math.ceil((retryAfterMs ?? 1000) / 1000) },
  );
}
