import type { DramaRequest } from "../../../schemas/requests.ts";
import { checkIdempotencyKey } from "../../domain/idempotency/key.ts";
import { covers } from "../../domain/ledger/balance.ts";
import type { Quote } from "../../domain/pricing/quote.ts";
import type { Usage } from "../../model_types/usage.ts";
import { formatDecimal, roundUp } from "../../lib/money.ts";
import type { Model } from "../../platform/config/config.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import { prepareChat } from "../chat/prepare_chat.ts";
import { quoteDramaRequest } from "../dramas/accept_drama.ts";
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
  | { readonly kind: "drama"; readonly body: DramaRequest }
  | { readonly kind: "media"; readonly body: GenerationBody };

/** The maximum cost of a request. */
export interface RequestQuote {
  /** In the smallest unit of the currency, rounded up. */
  readonly amount: string;
  readonly maxUsage: Usage;
  readonly price: Quote["price"];
  /** Whether the balance and the quotas of the account cover it now. */
  readonly isCovered: boolean;
}

/** Quotes a request as its endpoint would, with the same errors, and holds nothing. */
export async function quoteRequest(
  deps: QuoteDeps,
  call: GenerationCall,
  model: Model,
  request: ChargedRequest,
): Promise<RequestQuote> {
  const { most, quote } = await quoteByKind(deps, call, model, request);
  const { currencyScale } = call.config.service;
  const { sql } = deps.tasks.database;
  return {
    amount: formatDecimal(roundUp(quote.amount, currencyScale)),
    maxUsage: most,
    price: quote.price,
    isCovered: await covers(sql, call.account.id, quote, currencyScale),
  };
}

async function quoteByKind(
  { tasks, upstreams }: QuoteDeps,
  call: GenerationCall,
  model: Model,
  { kind, body }: ChargedRequest,
): Promise<{ most: Usage; quote: Quote }> {
  const { config, account } = call;
  const quoted = (most: Usage) => ({ most, quote: quoteFor(config, account, model, most) });
  switch (kind) {
    case "chat":
      return quoted(prepareChat(upstreams, config, model, body).maxUsage);
    case "drama": {
      // May be absent here: the request itself may send it as a header.
      if (body.business_id !== undefined) checkIdempotencyKey(body.business_id, "business_id");
      const { quote, maxUsage } = await quoteDramaRequest(tasks, call, model, body);
      return { most: maxUsage, quote };
    }
    case "media": {
      const check = { files: tasks.files, config, account: account.id, model, body };
      return quoted((await checkGeneration(check)).maxUsage);
    }
  }
}
