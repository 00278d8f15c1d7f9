import type { ApiError } from "../../lib/api_error.ts";
import { ApiError as RefusalError } from "../../lib/api_error.ts";
import type { Config, Model, Upstream } from "../../platform/config/config.ts";
import type { OpenHold } from "../../domain/ledger/hold.ts";
import type { Ledger } from "../../domain/ledger/ledger.ts";
import type { PublicHosts } from "../../platform/outbound/public_hosts.ts";
import { type PricedAccount, priceFor } from "../../domain/pricing/find_price.ts";
import { costAttribution } from "../../domain/pricing/cost_attribution.ts";
import { type Charge, chargeUsage, type Quote, quoteUsage } from "../../domain/pricing/quote.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import { askStream, askWhole } from "../../upstream/call_chat.ts";
import { UpstreamFailure } from "../../upstream/failure.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import { ChatMeter, type MeteredChat, usageOf } from "./meter.ts";
import type { PreparedChat } from "./prepare_chat.ts";
import { relay } from "./relay.ts";
import { ChunkWriter, type Heading, renderCompletion } from "./render.ts";
import { suggestCheaper } from "./suggest_cheaper.ts";
import type { Log } from "../../platform/telemetry/log.ts";

export interface ChatDeps {
  ledger: Ledger;
  upstreams: Upstreams;
  imageHosts: PublicHosts;
  /** Renders a failure in mid-stream as the client may see it. */
  renderFailure(apiError: ApiError, requestId: string): string;
  log: Pick<Log, "error">;
  timing?: Partial<ChatTiming>;
}

export interface ChatTiming {
  /** Longest a chat may take in all; its hold outlives it by a little. */
  totalMs: number;
  /** How long a client may leave a stream unread before it counts as gone. */
  unreadMs: number;
  /** How long the usage of a finished answer is waited for when its client has left. */
  usageMs: number;
  /** How long a whole answer waits for the database to be settled in. */
  settleMs: number;
}

const TIMING: ChatTiming = {
  totalMs: 900_000,
  unreadMs: 60_000,
  usageMs: 2_000,
  settleMs: 10_000,
};
const HOLD_SECONDS = 960;

export interface ChatCall {
  requestId: string;
  clientRequestId: string | null;
  config: Config;
  account: PricedAccount;
  model: Model;
  prepared: PreparedChat;
  /** Aborts when the client leaves. */
  signal: AbortSignal;
  /** Told the tokens of the answer, once they are known. */
  onTokens(tokens: number): void;
  /** Told when a stream needs its request no more. */
  onOver?(): void;
}

export type ChatAnswer = { json: string } | { stream: ReadableStream<Uint8Array> };

/** How often a running stream leaves a record of what it has used, for the case that we die. */
const NOTE_MS = 3_000;

/** A chat completion, from the price to the receipt. */
export async function completeChat(deps: ChatDeps, call: ChatCall): Promise<ChatAnswer> {
  const { model, prepared } = call;
  const { request, linkedImages } = prepared;
  if (linkedImages !== null) await deps.imageHosts.check(linkedImages);
  const quoted = quoteFor(call);
  // Leaving early releases the hold; keep() hands it to the stream, which outlives this call.
  await using hold = await deps.ledger.hold({
    id: call.requestId,
    account: call.account.id,
    quote: quoted,
    clientRequestId: call.clientRequestId ?? undefined,
    ttlSeconds: HOLD_SECONDS,
    isRenewed: true,
    beyondHold: true,
    cheaper: suggestCheaper(quoted, prepared),
  });
  const heading: Heading = {
    id: `chatcmpl-${call.requestId.slice(4)}`,
    model: model.id,
    created: Math.floor(Date.now() / 1000),
  };
  const { input_tokens = 0, output_tokens = 0 } = prepared.maxUsage;
  const meter = new ChatMeter(request, {
    mayHideReasoning: mayReason(model, request),
    tokensMax: input_tokens + output_tokens,
  });
  if (request.stream === true) {
    return await streamed(deps, call, quoted, hold.keep(), heading, meter);
  }

  const { value: reply, upstream, release } = await deps.upstreams.first(
    { config: call.config, model, account: call.account.id, signal: call.signal },
    (attempt) => askWhole(attempt, prepared.requestFor(attempt.upstream)),
  );
  release();
  meter.imageTokens = prepared.imageTokensAt(upstream);
  meter.addReply(reply);
  const metered = await meter.total();
  const settleMs = deps.timing?.settleMs ?? TIMING.settleMs;
  await hold.settle(chargeFor(quoted, upstream, metered), settleMs);
  call.onTokens(tokensOf(metered));
  return { json: renderCompletion(heading, reply, metered.tokens) };
}

function chargeFor(quoted: Quote, upstream: Upstream, metered: MeteredChat): Charge {
  const usage = usageOf(metered);
  return chargeUsage(quoted, usage, costAttribution(upstream, usage));
}

function quoteFor({ config, account, model, prepared }: ChatCall): Quote {
  const price = priceFor(config, account, model.id, Date.now());
  if (price === null) {
    throw new RefusalError("model_unavailable", `The model "${model.id}" has no price.`, {
      param: "model",
    });
  }
  return quoteUsage(model, price, prepared.maxUsage);
}

async function streamed(
  deps: ChatDeps,
  call: ChatCall,
  quoted: Quote,
  hold: OpenHold,
  heading: Heading,
  meter: ChatMeter,
): Promise<ChatAnswer> {
  const { model, prepared } = call;
  // The client's leaving ends the wait for the first byte; after that the relay decides.
  const stop = new AbortController();
  const leave = () => stop.abort();
  call.signal.addEventListener("abort", leave);
  const { totalMs, unreadMs, usageMs } = { ...TIMING, ...deps.timing };
  const deadline = setTimeout(() => stop.abort(), totalMs);
  let given;
  try {
    given = await deps.upstreams.first(
      { config: call.config, model, account: call.account.id, signal: stop.signal },
      (attempt) => askStream(attempt, prepared.requestFor(attempt.upstream)),
    );
  } catch (error) {
    clearTimeout(deadline);
    await hold.release();
    throw error;
  } finally {
    call.signal.removeEventListener("abort", leave);
  }

  const { value: { first, rest }, upstream, release } = given;
  if (stop.signal.aborted) {
    // Gone in the moment of the first byte: the connection is closed, and that is not the upstream's fault.
    clearTimeout(deadline);
    rest.cancel();
    release();
    await hold.release();
    throw stop.signal.reason;
  }
  meter.imageTokens = prepared.imageTokensAt(upstream);
  const noting = setInterval(() => {
    hold.note(chargeFor(quoted, upstream, meter.soFar())).catch(() => undefined);
  }, NOTE_MS);
  let usageWait: ReturnType<typeof setTimeout> | undefined;
  const over = (failure?: UpstreamFailure) => {
    clearTimeout(deadline);
    clearTimeout(usageWait);
    clearInterval(noting);
    release(failure);
    call.onOver?.();
  };
  /** Takes what was used, now or when the database is back; what cannot be settled at all is the sweeper's. */
  const settle = async (): Promise<MeteredChat> => {
    const metered = await meter.total();
    call.onTokens(tokensOf(metered));
    try {
      await hold.settleDelivered(chargeFor(quoted, upstream, metered));
    } catch (error) {
      deps.log.error("stream settlement failed, the last checkpoint counts", {
        request_id: call.requestId,
        error,
      });
    }
    return metered;
  };
  const writer = new ChunkWriter(heading, showsUsage(prepared.request));
  const event = (apiError: ApiError) => `data: ${deps.renderFailure(apiError, call.requestId)}\n\n`;
  const stream = relay({
    first,
    rest,
    writer,
    deadline: stop.signal,
    unread: {
      ms: unreadMs,
      event: () =>
        event(new RefusalError("upstream_timeout", "The answer was left unread for too long.")),
    },
    onChunk: (chunk) => meter.add(chunk),
    async onEnd() {
      over();
      const { tokens } = await settle();
      return writer.usage(tokens);
    },
    async onFailure(error) {
      if (stop.signal.aborted) {
        // The deadline ended it, or the wait for the usage of a client that left: the upstream did not fail.
        over();
        await settle();
        return event(
          new RefusalError("upstream_timeout", "The answer took too long: ask for less."),
        );
      }
      const failure = error instanceof UpstreamFailure
        ? error
        : new UpstreamFailure("failed", "the stream failed", { cause: error });
      over(failure);
      await settle();
      const apiError = failure.kind === "timeout"
        ? new RefusalError("upstream_timeout", "The model stopped answering: try again.")
        : new RefusalError(
          "upstream_failed",
          "The model failed in the middle of its answer: try again.",
        );
      return event(apiError);
    },
    onLeave() {
      if (model.onDisconnect === "drain") return true;
      if (meter.isFinished) {
        // What the provider counts comes behind the last words: it is worth a moment.
        usageWait = setTimeout(() => stop.abort(), usageMs);
        return true;
      }
      over();
      void settle();
      return false;
    },
  });
  return { stream };
}

function mayReason(model: Model, { reasoning_effort: effort }: ChatRequest): boolean {
  return model.capabilities.has("reasoning") && effort !== "none";
}

function showsUsage(request: ChatRequest): boolean {
  return (request.stream_options as { include_usage?: boolean } | null | undefined)
    ?.include_usage === true;
}

function tokensOf({ tokens: { input, cachedInput, output, reasoning } }: MeteredChat): number {
  return input + cachedInput + output + reasoning;
}
