import type { AnswerClaim } from "../../domain/idempotency/answers.ts";
import { ApiError } from "../../lib/api_error.ts";
import { traced } from "../../platform/tracing/traced.ts";
import type { ChatChunk } from "../../upstream/adapter.ts";
import { callChatStream, type ChunkStream } from "../../upstream/call_chat.ts";
import { Deadline } from "../../upstream/deadline.ts";
import { UpstreamFailure } from "../../upstream/failure.ts";
import { exhausted, type UpstreamResult } from "../../upstream/upstreams.ts";
import type { ChatDeps, HeldChat, StreamAnswer } from "./complete_chat.ts";
import type { AnswerWriter } from "./dialect.ts";
import type { MeteredChat } from "../../model_types/chat.ts";
import { chargeFor, tokenCount } from "./meter.ts";
import { RecordedWriter } from "./recorded_writer.ts";
import { relay } from "./relay.ts";

export interface ChatTiming {
  /** Longest total time of a chat; its hold lasts a little longer. */
  totalMs: number;
  /** How long a client may leave a stream unread before it counts as disconnected. */
  unreadMs: number;
  /** How long to wait for the usage of a finished answer after its client disconnected. */
  usageMs: number;
  /** How long a non-streamed answer waits for its settlement. */
  settleMs: number;
}

export const CHAT_TIMING: ChatTiming = {
  totalMs: 900_000,
  unreadMs: 60_000,
  usageMs: 2_000,
  settleMs: 10_000,
};

/** How often a running stream records its usage so far: what is billed if this process dies. */
const CHECKPOINT_MS = 3_000;

type Upstream = UpstreamResult<{ first: readonly ChatChunk[]; rest: ChunkStream }>;

/** Calls an upstream with streaming. The stream settles the hold at its end. */
export async function streamChat(
  deps: ChatDeps,
  chat: HeldChat,
): Promise<StreamAnswer> {
  const { call, prepared, hold } = chat;
  const deadline = new Deadline({
    totalMs: deps.timing?.totalMs ?? CHAT_TIMING.totalMs,
    signal: call.signal,
  });
  let upstream: Upstream;
  try {
    upstream = await deps.upstreams.callFirstAvailable(
      {
        ...{ config: call.config, model: call.model, account: call.account.id },
        signal: deadline.signal,
        subject: { request_id: call.requestId },
        attempts: call.logged.attempts,
        pin: prepared.pin,
      },
      (attempt) => callChatStream(attempt, prepared.requestFor(attempt.upstream)),
    );
  } catch (error) {
    deadline[Symbol.dispose]();
    await hold.release();
    throw deadline.signal.aborted ? givenUp(deadline, error) : error;
  }
  if (deadline.signal.aborted) {
    // Given up with the first byte: the connection is closed, and the upstream did not fail.
    deadline[Symbol.dispose]();
    upstream.value.rest.cancel();
    upstream.release();
    await hold.release();
    throw givenUp(deadline, deadline.signal.reason);
  }
  // Until the first byte a disconnect of the client ended the wait; from here on the relay handles it.
  deadline.ignoreOuter();
  const stream = new StreamedChat(deps, chat, upstream, deadline).open();
  return { stream, ignored: prepared.requestFor(upstream.upstream).ignored };
}

/** Why a stream ends before it begins: its total time is over, or its client has disconnected. */
function givenUp(deadline: Deadline, cause: unknown): Error {
  const failure = deadline.toFailure(cause);
  return failure.kind === "timeout" ? exhausted(failure) : failure;
}

/** A running stream: meters it, and settles it when it ends, fails or loses its client. */
class StreamedChat {
  readonly #writer: AnswerWriter;
  /** The same writer, if the answer is to be kept. */
  readonly #recorded: RecordedWriter | null;
  readonly #checkpoints: ReturnType<typeof setInterval>;
  #usageWait: ReturnType<typeof setTimeout> | undefined;
  #isDisconnected = false;
  readonly #watch: Disposable;
  /** Why it had to end although nothing was wrong with it. */
  #stoppedBy: ApiError | null = null;

  constructor(
    private readonly deps: ChatDeps,
    private readonly chat: HeldChat,
    private readonly upstream: Upstream,
    private readonly deadline: Deadline,
  ) {
    const { call, prepared, quote, hold, meter } = chat;
    call.requestBody?.keep();
    call.logged.beginStream();
    meter.imageTokens = prepared.imageTokensAt(upstream.upstream);
    const writer = call.dialect.openStream(chat.heading);
    this.#recorded = call.claim === null ? null : new RecordedWriter(writer);
    this.#writer = this.#recorded ?? writer;
    this.#watch = deps.streams.watch(call.account.id, (error) => {
      this.#stoppedBy = error;
      deadline.abort();
    });
    this.#checkpoints = setInterval(() => {
      // A checkpoint that fails is replaced by the next one, or by the settlement.
      const charge = chargeFor(quote, upstream.upstream, meter.soFar(), prepared.extras);
      hold.checkpoint(charge).catch(() => undefined);
    }, CHECKPOINT_MS);
  }

  open(): ReadableStream<Uint8Array> {
    const { first, rest } = this.upstream.value;
    const { meter } = this.chat;
    return relay({
      first,
      rest,
      writer: this.#writer,
      deadline: this.deadline.signal,
      unread: {
        ms: this.deps.timing?.unreadMs ?? CHAT_TIMING.unreadMs,
        event: () =>
          this.#writer.fail(
            new ApiError("upstream_timeout", "The response was not read in time."),
          ),
      },
      onChunk: (chunk) => meter.add(chunk),
      onEnd: () => this.#end(),
      onFailure: (error) => this.#fail(error),
      onDisconnect: () => this.#disconnect(),
    });
  }

  async #end(): Promise<string> {
    this.#stop();
    const metered = await this.#count();
    const { claim } = this.chat.call;
    const lost = claim === null ? null : await lostClaim(claim);
    if (lost !== null) return await this.#giveUp(metered, lost);
    // A dialect may store its answer: both writes wait for the disk at the same time.
    const [text] = await Promise.all([
      this.#writer.end(metered.tokens),
      this.#settle(metered, null),
    ]);
    // Not before it is paid for: a repeat gets it for nothing.
    if (claim !== null) await claim.keep({ body: this.#recorded!.text, isStream: true });
    return text;
  }

  async #fail(error: unknown): Promise<string> {
    const failed = this.#stopFailed(error);
    await this.#settle(await this.#count(), failed.code);
    await this.chat.call.claim?.release();
    return this.#writer.fail(failed);
  }

  /** Stops the stream; the result is for its client. */
  #stopFailed(error: unknown): ApiError {
    if (this.deadline.signal.aborted) {
      // The total time is over, or the usage did not arrive after a disconnect: the upstream did not fail.
      this.#stop();
      return this.#stoppedBy ?? new ApiError(
        "upstream_timeout",
        "The response took too long. Ask for a shorter answer.",
      );
    }
    const failure = error instanceof UpstreamFailure
      ? error
      : new UpstreamFailure("failed", "the stream failed", { cause: error });
    this.#stop(failure);
    return failure.kind === "timeout"
      ? new ApiError("upstream_timeout", "The model stopped responding. Try again.")
      : new ApiError("upstream_failed", "The model failed during its response. Try again.");
  }

  /** Another request has made the answer: that one is charged. */
  async #giveUp(metered: MeteredChat, lost: ApiError): Promise<string> {
    const { call, hold, reservation } = this.chat;
    reservation.settle(tokenCount(metered));
    call.logged.tokens = metered.tokens;
    // The sweeper releases it otherwise.
    await hold.release().catch(() => undefined);
    await call.claim?.release();
    call.logged.endStream(lost.code);
    return this.#writer.fail(lost);
  }

  /** Returns whether to read the stream to its end without the client. */
  #disconnect(): boolean {
    this.#isDisconnected = true;
    const { call } = this.chat;
    if (call.claim !== null || call.model.onDisconnect === "drain") return true;
    if (this.chat.meter.isFinished) {
      // The provider sends its usage after the last token: worth a short wait.
      const { usageMs } = { ...CHAT_TIMING, ...this.deps.timing };
      this.#usageWait = setTimeout(() => this.deadline.abort(), usageMs);
      return true;
    }
    this.#stop();
    void this.#count().then((metered) => this.#settle(metered, null));
    return false;
  }

  #stop(failure?: UpstreamFailure): void {
    this.deadline[Symbol.dispose]();
    clearTimeout(this.#usageWait);
    clearInterval(this.#checkpoints);
    this.#watch[Symbol.dispose]();
    this.upstream.release(failure);
    this.chat.call.requestBody?.release();
  }

  #count(): Promise<MeteredChat> {
    const { call, meter } = this.chat;
    return meter.total().catch((error) => {
      this.deps.log.error("tokens not counted, their estimate is charged", {
        request_id: call.requestId,
        error,
      });
      return meter.soFar();
    });
  }

  /** Settles the usage, now or when the database is back; if that fails, the sweeper bills the last checkpoint. */
  async #settle(metered: MeteredChat, errorCode: string | null): Promise<void> {
    const { call, prepared, quote, hold, reservation } = this.chat;
    const { logged } = call;
    reservation.settle(tokenCount(metered));
    logged.tokens = metered.tokens;
    logged.charge = null;
    try {
      const charge = chargeFor(quote, this.upstream.upstream, metered, prepared.extras);
      const settled = await traced(logged.span, "settle", () => hold.settleDelivered(charge));
      logged.charge = settled?.taken ?? null;
    } catch (error) {
      this.deps.log.error("stream settlement failed, the last checkpoint counts", {
        request_id: call.requestId,
        error,
      });
    }
    logged.endStream(this.#isDisconnected ? "client_disconnected" : errorCode);
  }
}

/** The error for a stream whose answer another request has made meanwhile; null also if that cannot be asked. */
async function lostClaim(claim: AnswerClaim): Promise<ApiError | null> {
  try {
    await claim.confirm();
    return null;
  } catch (error) {
    return error instanceof ApiError ? error : null;
  }
}
