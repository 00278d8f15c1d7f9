import type { DramaRequest } from "../../../schemas/requests.ts";
import { findKey } from "../../domain/accounts/api_keys.ts";
import { checkIdempotencyKey } from "../../domain/idempotency/key.ts";
import { readFunds } from "../../domain/ledger/balance.ts";
import { requirePrice } from "../../domain/pricing/find_price.ts";
import {
  type Funds,
  isCovered,
  payFrom,
  type Payment,
  withinBudget,
} from "../../domain/pricing/funds.ts";
import type { Quote } from "../../domain/pricing/quote.ts";
import { OUTPUT_TOKENS_LEAST } from "../../model_types/chat.ts";
import type { EmbeddingBody } from "../../model_types/embedding.ts";
import type { Usage } from "../../model_types/usage.ts";
import { decimal, formatDecimal, roundUp } from "../../lib/money.ts";
import type { Model } from "../../platform/config/config.ts";
import type { Queries } from "../../platform/database/database.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import { fittingLimit, quoteChat } from "../chat/hold_chat.ts";
import { prepareChat } from "../chat/prepare_chat.ts";
import { quoteDramaRequest } from "../dramas/accept_drama.ts";
import type { QuotedPart } from "../dramas/price_drama.ts";
import { prepareEmbeddings } from "../embeddings/prepare_embeddings.ts";
import { type GenerationCall, quoteFor } from "../tasks/accept_generation.ts";
import { checkGeneration, type GenerationBody } from "../tasks/check_generation.ts";
import type { TaskDeps } from "../tasks/deps.ts";

export interface QuoteDeps {
  readonly tasks: Pick<TaskDeps, "files" | "database">;
  readonly upstreams: Upstreams;
}

/** A request that would be charged, with the body that fits its schema. */
export type ChargedRequest =
  | { readonly kind: "chat"; readonly body: ChatRequest }
  | { readonly kind: "embedding"; readonly body: EmbeddingBody & { readonly model: string } }
  | { readonly kind: "drama"; readonly body: DramaRequest }
  | { readonly kind: "media"; readonly body: GenerationBody };

/** The maximum cost of a request. */
export interface RequestQuote {
  /** In the smallest unit of the currency, rounded up. */
  readonly amount: string;
  readonly maxUsage: Usage;
  readonly price: Quote["price"];
  /** What would pay for it now. */
  readonly payment: Payment;
  /** Whether the balance and the quotas of the account, and the budget of the key, cover it now. */
  readonly isCovered: boolean;
  /** Of a chat: the output limit that would be passed on. */
  readonly maxTokens?: number | undefined;
  /** Of a drama: what it is made of, each with its maximum price. */
  readonly parts?: readonly QuotedPart[] | undefined;
}

/** Quotes a request as its endpoint would, with the same errors, and holds nothing. */
export async function quoteRequest(
  deps: QuoteDeps,
  call: GenerationCall,
  model: Model,
  request: ChargedRequest,
): Promise<RequestQuote> {
  const { currencyScale } = call.config.service;
  const funds = await readSpendable(deps.tasks.database.sql, call);
  const { maxUsage, quote, ...more } = request.kind === "chat"
    ? quoteChatRequest(deps, { ...call, model }, request.body, funds)
    : await quoteByKind(deps, call, model, request);
  return {
    amount: formatDecimal(roundUp(quote.amount, currencyScale)),
    maxUsage,
    price: quote.price,
    payment: payFrom(funds, quote, currencyScale),
    isCovered: isCovered(funds, quote, currencyScale),
    ...more,
  };
}

/** What the account can spend with the key of the request. */
async function readSpendable(
  sql: Queries,
  { account, origin }: Pick<GenerationCall, "account" | "origin">,
): Promise<Funds> {
  const funds = await readFunds(sql, account.id);
  if (origin.key === null) return funds;
  const { budget, spend } = await findKey(sql, origin.key);
  if (budget === null) return funds;
  const left = decimal(budget.amount) - decimal(spend.amount) - decimal(spend.held);
  return withinBudget(funds, left);
}

interface QuotedRequest extends Pick<RequestQuote, "maxUsage" | "maxTokens" | "parts"> {
  readonly quote: Quote;
}

async function quoteByKind(
  { tasks, upstreams }: QuoteDeps,
  call: GenerationCall,
  model: Model,
  { kind, body }: Exclude<ChargedRequest, { kind: "chat" }>,
): Promise<QuotedRequest> {
  const { config, account } = call;
  switch (kind) {
    case "embedding": {
      const { maxUsage } = await prepareEmbeddings({ upstreams, config, model }, body);
      return { maxUsage, quote: quoteFor(config, account, model, maxUsage) };
    }
    case "drama": {
      // May be absent here: the request itself may send it as a header.
      if (body.business_id !== undefined) checkIdempotencyKey(body.business_id, "business_id");
      const { maxUsage, quote, parts } = await quoteDramaRequest(tasks, call, model, body);
      return { maxUsage, quote, parts };
    }
    case "media": {
      const check = { files: tasks.files, config, account: account.id, model, body };
      const { maxUsage } = await checkGeneration(check);
      return { maxUsage, quote: quoteFor(config, account, model, maxUsage) };
    }
  }
}

/** A chat without a limit of its own is quoted with the one that it would get. */
function quoteChatRequest(
  { upstreams }: QuoteDeps,
  { config, account, model }: Pick<GenerationCall, "config" | "account"> & { model: Model },
  body: ChatRequest,
  funds: Funds,
): QuotedRequest {
  const price = requirePrice(config, account, model.id);
  const chat = { config, account, model, price };
  let prepared = prepareChat({ upstreams, ...chat }, body);
  const fitting = prepared.hasOwnLimit ? prepared.limit : fittingLimit(chat, prepared, funds);
  if (fitting >= OUTPUT_TOKENS_LEAST && fitting < prepared.limit) {
    prepared = prepared.limitedTo(fitting);
  }
  const { maxUsage, limit } = prepared;
  return { maxUsage, maxTokens: limit, quote: quoteChat(chat, prepared) };
}
