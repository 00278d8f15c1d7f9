import type { Config } from "../../platform/config/config.ts";
import type { Quote } from "./quote.ts";

/** The quote as the account's plan allows it: a quota that is for other models pays nothing of it. */
export function withinQuota(config: Pick<Config, "plans">, plan: string, quote: Quote): Quote {
  if (quote.kind === null) return quote;
  const models = config.plans.get(plan)?.quotaModels[quote.kind];
  return models === undefined || models.has(quote.model)
    ? quote
    : { ...quote, kind: null, units: 0n };
}
