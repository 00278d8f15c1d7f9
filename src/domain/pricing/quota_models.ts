import { definitionOf } from "../../model_types/model_types.ts";
import type { UsageKind } from "../../model_types/usage.ts";
import type { Config, Model } from "../../platform/config/config.ts";
import type { Quote } from "./quote.ts";

/** The quote as the account's plan allows it: a quota that is for other models pays nothing of it. */
export function withinQuota(config: Pick<Config, "plans">, plan: string, quote: Quote): Quote {
  if (quote.kind === null || isForModel(config, plan, quote.kind, quote.model)) return quote;
  return { ...quote, kind: null, units: 0n };
}

/** Whether the quota of a plan that fits the type of a model is for it. */
export function mayUseQuota(config: Pick<Config, "plans">, plan: string, model: Model): boolean {
  const { quota } = definitionOf(model.type);
  return quota !== null && isForModel(config, plan, quota, model.id);
}

function isForModel(
  { plans }: Pick<Config, "plans">,
  plan: string,
  kind: UsageKind,
  model: string,
): boolean {
  return plans.get(plan)?.quotaModels[kind]?.has(model) ?? true;
}
