import { ApiError } from "../../lib/api_error.ts";
import type { Hold } from "../../domain/ledger/hold.ts";
import {
  currencyOf,
  insufficientBalance,
  KeyBudgetExceeded,
} from "../../domain/ledger/insufficient.ts";
import type { RequestOrigin } from "../../domain/ledger/request_origin.ts";
import type { Ledger } from "../../domain/ledger/ledger.ts";
import { type Funds, largestCovered, withinBudget } from "../../domain/pricing/funds.ts";
import { withinQuota } from "../../domain/pricing/quota_models.ts";
import { type Quote, quoteUsage } from "../../domain/pricing/quote.ts";
import { OUTPUT_TOKENS_LEAST } from "../../model_types/chat.ts";
import type { Config, Model, Price } from "../../platform/config/config.ts";
import type { PreparedChat } from "./prepare_chat.ts";
import { suggestCheaper } from "./suggest_cheaper.ts";

/** A request whose maximum price is to be held. */
export interface UnheldChat {
  readonly requestId: string;
  readonly clientRequestId: string | null;
  readonly config: Config;
  readonly account: {
    readonly id: string;
    readonly plan: string;
    readonly hasKeyBudget: boolean;
  };
  readonly model: Model;
  readonly price: Price;
  readonly prepared: PreparedChat;
  readonly logged: RequestOrigin;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

export interface ChatHold {
  readonly hold: Hold;
  readonly quote: Quote;
  /** The request that the hold is for; its limit may be lower than it was. */
  readonly prepared: PreparedChat;
}

/** Longer than the total time of a chat. */
const HOLD_SECONDS = 960;
/** Other requests may take the money between the look at the balance and the hold. */
const TRIES_MAX = 3;

/** Holds the maximum price of a chat, or of what of it is covered. */
export async function holdChat(ledger: Ledger, chat: UnheldChat): Promise<ChatHold> {
  const { placed: hold, ...rest } = await holdCovered(ledger, chat, (quote) =>
    ledger.hold({
      id: chat.requestId,
      account: chat.account.id,
      quote,
      clientRequestId: chat.clientRequestId ?? undefined,
      origin: chat.logged,
      ttlSeconds: HOLD_SECONDS,
      isRenewed: true,
      beyondHold: true,
      mayDraw: !chat.account.hasKeyBudget,
      signal: chat.signal,
    }));
  return { hold, ...rest };
}

interface CoverableChat extends QuotedChat {
  readonly account: Pick<UnheldChat["account"], "id" | "plan">;
  readonly prepared: PreparedChat;
}

/**
 * Calls `place` with the maximum price of a chat. Without a limit of its own, a chat that the balance or the budget of
 * its key does not cover is limited to what is covered; one that has a limit is refused, and so is one with room for a
 * few words only.
 */
export async function holdCovered<T>(
  ledger: Pick<Ledger, "funds">,
  chat: CoverableChat,
  place: (quote: Quote, prepared: PreparedChat) => Promise<T>,
): Promise<{ placed: T; quote: Quote; prepared: PreparedChat }> {
  let { prepared } = chat;
  for (let tries = 1;; tries++) {
    const quote = quoteChat(chat, prepared);
    try {
      return { placed: await place(quote, prepared), quote, prepared };
    } catch (error) {
      const isOverBudget = error instanceof KeyBudgetExceeded;
      if (!isOverBudget && !isInsufficient(error)) throw error;
      const funds = await ledger.funds(chat.account.id);
      const fitting = fittingLimit(
        chat,
        prepared,
        isOverBudget ? withinBudget(funds, error.left) : funds,
      );
      if (prepared.hasOwnLimit || fitting < OUTPUT_TOKENS_LEAST || tries === TRIES_MAX) {
        if (isOverBudget) throw error;
        const hint = suggestCheaper(quote, prepared, fitting);
        throw insufficientBalance(quote, currencyOf(chat.config), hint);
      }
      prepared = prepared.limitedTo(Math.min(fitting, prepared.limit));
    }
  }
}

function isInsufficient(error: unknown): boolean {
  return error instanceof ApiError && error.code === "insufficient_balance";
}

interface QuotedChat extends Pick<UnheldChat, "config" | "model" | "price"> {
  readonly account: Pick<UnheldChat["account"], "plan">;
}

/** The maximum price of a request as it was prepared. */
export function quoteChat(
  { config, account, model, price }: QuotedChat,
  { maxUsage, extras }: Pick<PreparedChat, "maxUsage" | "extras">,
): Quote {
  return withinQuota(config, account.plan, quoteUsage(model, price, maxUsage, extras));
}

/** The largest output limit that these funds cover, up to the limit of the model. */
export function fittingLimit(
  chat: QuotedChat,
  prepared: PreparedChat,
  funds: Funds,
): number {
  return largestCovered(funds, {
    most: prepared.limit,
    scale: chat.config.service.currencyScale,
    quoteAt: (limit) =>
      quoteChat(chat, { maxUsage: prepared.maxUsageAt(limit), extras: prepared.extras }),
  });
}
