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

/** Why a stream ended early. */
type StreamError = "upstream_timeout" | "upstream_failed" | "account_suspended";
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
    this.#writer = call.dialect.openStream(chat.heading);
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
        event: () => this.#errorEvent("upstream_timeout", "The response was not read in time."),
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
    // A dialect may store its answer: both writes wait for the disk at the same time.
    const [text] = await Promise.all([
      this.#writer.end(metered.tokens),
      this.#settle(metered, null),
    ]);
    return text;
  }

  async #fail(error: unknown): Promise<string> {
    if (this.deadline.signal.aborted) {
      // The total time is over, or the usage did not arrive after a disconnect: the upstream did not fail.
      this.#stop();
      if (this.#stoppedBy !== null) {
        await this.#settle(await this.#count(), "account_suspended");
        return this.#writer.fail(this.#stoppedBy);
      }
      await this.#settle(await this.#count(), "upstream_timeout");
      return this.#errorEvent(
        "upstream_timeout",
        "The response took too long. Ask for a shorter answer.",
      );
    }
    const failure = error instanceof UpstreamFailure
      ? error
      : new UpstreamFailure("failed", "the stream failed", { cause: error });
    this.#stop(failure);
    const isTimeout = failure.kind === "timeout";
    await this.#settle(await this.#count(), isTimeout ? "upstream_timeout" : "upstream_failed");
    return isTimeout
      ? this.#errorEvent("upstream_timeout", "The model stopped responding. Try again.")
      : this.#errorEvent("upstream_failed", "The model failed during its response. Try again.");
  }

  /** Returns whether to read the stream to its end without the client. */
  #disconnect(): boolean {
    this.#isDisconnected = true;
    const { call } = this.chat;
    if (call.isDrained || call.model.onDisconnect === "drain") return true;
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
  async #settle(metered: MeteredChat, errorCode: StreamError | null): Promise<void> {
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

  #errorEvent(code: StreamError, message: string): string {
    return this.#writer.fail(new ApiError(code, message));
  }
}
