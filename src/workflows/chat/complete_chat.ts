import type { Config, Model } from "../../platform/config/config.ts";
import type { AnswerClaim } from "../../domain/idempotency/answers.ts";
import type { RunningStreams } from "../../domain/accounts/running_streams.ts";
import type { OpenHold } from "../../domain/ledger/hold.ts";
import type { Ledger } from "../../domain/ledger/ledger.ts";
import type { OpenRequest } from "../../domain/requests/open_request.ts";
import type { BodyReservation } from "../../domain/limits/body_reservation.ts";
import type { Limiter } from "../../domain/limits/limiter.ts";
import type { Log } from "../../platform/telemetry/log.ts";
import { traced } from "../../platform/tracing/traced.ts";
import type { PublicHosts } from "../../platform/outbound/public_hosts.ts";
import { type PricedAccount, requirePrice } from "../../domain/pricing/find_price.ts";
import type { Quote } from "../../domain/pricing/quote.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import { callChat } from "../../upstream/call_chat.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import type { ChatDialect, Heading } from "./dialect.ts";
import { holdChat, type UnheldChat } from "./hold_chat.ts";
import { chargeFor, ChatMeter, tokenCount } from "./meter.ts";
import { prepareChat, type PreparedChat } from "./prepare_chat.ts";
import { reserveTokens, type TokenRate, type TokenReservation } from "./reserve_tokens.ts";
import { CHAT_TIMING, type ChatTiming, streamChat } from "./stream_chat.ts";

export interface ChatDeps {
  ledger: Ledger;
  limiter: Limiter;
  upstreams: Upstreams;
  /** Ends streams of accounts that are suspended. */
  streams: RunningStreams;
  imageHosts: PublicHosts;
  log: Pick<Log, "error">;
  timing?: Partial<ChatTiming>;
}

export interface ChatCall {
  requestId: string;
  clientRequestId: string | null;
  config: Config;
  account: PricedAccount & UnheldChat["account"];
  model: Model;
  request: ChatRequest;
  /** How the client gets its answer. */
  dialect: ChatDialect;
  tokenRate: TokenRate;
  /** Memory of a large request body; a stream keeps it until its end. */
  requestBody: BodyReservation | null;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
  /** Keeps the answer for repeats of the request. It is made to its end even if the client disconnects. */
  claim: AnswerClaim | null;
  /** Its row of the request log. */
  logged: OpenRequest;
}

/** A chat whose tokens are reserved and whose money is held. */
export interface HeldChat {
  readonly call: ChatCall;
  readonly prepared: PreparedChat;
  readonly reservation: TokenReservation;
  readonly quote: Quote;
  readonly hold: OpenHold;
  readonly heading: Heading;
  readonly meter: ChatMeter;
}

export type ChatAnswer = WholeAnswer | StreamAnswer;

interface Served {
  /** Parameters that the upstream which answered does not take. */
  readonly ignored: readonly string[];
}

interface WholeAnswer extends Served {
  readonly json: string;
}

export interface StreamAnswer extends Served {
  readonly stream: ReadableStream<Uint8Array>;
}

/** A chat completion: check, reserve tokens, quote, hold, call, settle. */
export async function completeChat(deps: ChatDeps, call: ChatCall): Promise<ChatAnswer> {
  const { config, model, account } = call;
  const price = requirePrice(config, account, model.id);
  const asked = prepareChat({ upstreams: deps.upstreams, config, model, price }, call.request);
  const reservation = await reserveTokens(deps.limiter, call.tokenRate, asked.maxUsage);
  try {
    if (asked.linkedImages !== null) await deps.imageHosts.check(asked.linkedImages);
    const held = await traced(
      call.logged.span,
      "hold",
      () => holdChat(deps.ledger, { ...call, price, prepared: asked }),
    );
    const { quote, prepared } = held;
    // Leaving early releases the hold; keep() hands it to the stream, which outlives this call.
    await using hold = held.hold;
    const heading = headingOf(call);
    const meter = meterOf(model, prepared);
    if (prepared.request.stream === true) {
      const chat = { call, prepared, reservation, quote, hold: hold.keep(), heading, meter };
      return await streamChat(deps, chat);
    }
    const { value: reply, upstream, release } = await deps.upstreams.callFirstAvailable(
      {
        ...{ config, model, account: account.id, signal: call.signal },
        subject: { request_id: call.requestId },
        attempts: call.logged.attempts,
        pin: prepared.pin,
      },
      (attempt) => callChat(attempt, prepared.requestFor(attempt.upstream)),
    );
    release();
    meter.imageTokens = prepared.imageTokensAt(upstream);
    meter.addReply(reply);
    const metered = await meter.total();
    const settleMs = deps.timing?.settleMs ?? CHAT_TIMING.settleMs;
    const charge = chargeFor(quote, upstream, metered, prepared.extras);
    if (call.claim !== null) await call.claim.confirm();
    const [{ taken }, json] = await Promise.all([
      traced(call.logged.span, "settle", () => hold.settle(charge, settleMs)),
      // A dialect may store its answer: both writes wait for the disk at the same time.
      call.dialect.renderAnswer(heading, reply, metered.tokens),
    ]);
    call.logged.tokens = metered.tokens;
    call.logged.charge = taken;
    reservation.settle(tokenCount(metered));
    // Not before it is paid for: a repeat gets it for nothing.
    if (call.claim !== null) await call.claim.keep({ body: json, isStream: false });
    return { json, ignored: prepared.requestFor(upstream).ignored };
  } catch (error) {
    reservation.release();
    throw error;
  }
}

function headingOf({ requestId, model, config }: ChatCall): Heading {
  const created = Math.floor(Date.now() / 1000);
  return { requestId, model: model.id, created, fingerprint: `fp_${config.version}` };
}

/** Meters an answer of the model. */
export function meterOf(model: Model, { request, maxUsage }: PreparedChat): ChatMeter {
  const { input_tokens = 0, output_tokens = 0 } = maxUsage;
  return new ChatMeter(request, {
    mayHideReasoning: model.capabilities.has("reasoning") && request.reasoning_effort !== "none",
    tokensMax: input_tokens + output_tokens,
  });
}
