import type { AnswerClaim } from "../../domain/idempotency/answers.ts";
import type { Ledger } from "../../domain/ledger/ledger.ts";
import type { Limiter } from "../../domain/limits/limiter.ts";
import { costAttribution } from "../../domain/pricing/cost_attribution.ts";
import { type PricedAccount, requirePrice } from "../../domain/pricing/find_price.ts";
import { chargeUsage, quoteUsage } from "../../domain/pricing/quote.ts";
import type { OpenRequest } from "../../domain/requests/open_request.ts";
import { countTokens } from "../../lib/count_tokens.ts";
import {
  believedTokens,
  type EmbeddingBody,
  type EmbeddingInputs,
  embeddingUsage,
  isTexts,
  maxDimensions,
} from "../../model_types/embedding.ts";
import type { Config, Model } from "../../platform/config/config.ts";
import type { EmbeddingReply } from "../../upstream/adapter.ts";
import { callEmbeddings } from "../../upstream/call_embeddings.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import { reserveTokens, type TokenRate } from "../chat/reserve_tokens.ts";
import { prepareEmbeddings } from "./prepare_embeddings.ts";

interface EmbeddingsDeps {
  ledger: Ledger;
  limiter: Limiter;
  upstreams: Upstreams;
}

export interface EmbeddingsCall {
  requestId: string;
  clientRequestId: string | null;
  config: Config;
  account: PricedAccount & { readonly hasKeyBudget: boolean };
  model: Model;
  body: EmbeddingBody;
  tokenRate: TokenRate;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
  /** Keeps the answer for repeats of the request. */
  claim: AnswerClaim | null;
  /** Its row of the request log. */
  logged: OpenRequest;
}

/** The vectors of a request and the tokens it is charged for. */
export interface Embeddings {
  readonly vectors: EmbeddingReply["vectors"];
  readonly tokens: number;
}

/** Longer than the total time of a request. */
const HOLD_SECONDS = 960;
const SETTLE_MS = 10_000;

/** Embeddings: check, reserve tokens, quote, hold, call, settle. */
export async function createEmbeddings(
  deps: EmbeddingsDeps,
  call: EmbeddingsCall,
): Promise<Embeddings> {
  const { config, model, account, requestId, signal } = call;
  const { upstreams } = deps;
  const price = requirePrice(config, account, model.id);
  const prepared = await prepareEmbeddings({ upstreams, config, model }, call.body);
  const { request, maxUsage } = prepared;
  const reservation = await reserveTokens(deps.limiter, call.tokenRate, maxUsage);
  try {
    const quote = quoteUsage(model, price, maxUsage);
    // Leaving early releases the hold.
    await using hold = await deps.ledger.hold({
      id: requestId,
      account: account.id,
      quote,
      clientRequestId: call.clientRequestId ?? undefined,
      origin: call.logged,
      ttlSeconds: HOLD_SECONDS,
      isRenewed: true,
      beyondHold: true,
      mayDraw: !account.hasKeyBudget,
      signal,
    });
    const { value: reply, upstream, release } = await upstreams.callFirstAvailable(
      {
        ...{ config, model, account: account.id, signal },
        subject: { request_id: requestId },
        attempts: call.logged.attempts,
      },
      (attempt) =>
        callEmbeddings(attempt, {
          request,
          target: upstreams.targetOf(config, model, attempt.upstream),
          original: call.body,
          dimensionsMax: maxDimensions(model, request),
        }),
    );
    release();
    const believed = believedTokens(reply.tokens, maxUsage);
    const tokens = believed ?? await estimateTokens(request.inputs);
    const usage = embeddingUsage(tokens, believed === null);
    const charge = chargeUsage(quote, usage, costAttribution(upstream, usage));
    if (call.claim !== null) await call.claim.confirm();
    const { taken } = await hold.settle(charge, SETTLE_MS);
    call.logged.tokens = { input: tokens, cachedInput: 0, output: 0, reasoning: 0 };
    call.logged.charge = taken;
    reservation.settle(tokens);
    return { vectors: reply.vectors, tokens };
  } catch (error) {
    reservation.release();
    throw error;
  }
}

/** Some providers do not count. */
async function estimateTokens(inputs: EmbeddingInputs): Promise<number> {
  return isTexts(inputs)
    ? await countTokens(inputs.join("\n"))
    : inputs.reduce((sum, { length }) => sum + length, 0);
}
