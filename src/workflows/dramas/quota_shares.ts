import type { QuotaShare } from "../../domain/pricing/quote.ts";
import { addFractions, type Fraction } from "../../lib/money.ts";
import { definitionOf } from "../../model_types/model_types.ts";
import type { DramaJob } from "./drama.ts";
import { unitsOf, type Usage, USAGE_KINDS, type UsageKind } from "../../model_types/usage.ts";

interface PricedSubtask {
  readonly stage: string;
  readonly model: string;
  readonly usage: Usage;
  readonly amount: Fraction;
}

/**
 * What quotas may pay of a drama: texts, images and videos, unless the plan has quotas for other models only. Spoken
 * lines and the fee are for money.
 */
export function quotaShares(
  subtasks: readonly PricedSubtask[],
  { without_quota = [] }: Pick<DramaJob, "without_quota">,
): QuotaShare[] {
  const byKind = Map.groupBy(
    subtasks.filter(({ model }) => !without_quota.includes(model)),
    ({ stage, usage }) => quotaOf(stage, usage),
  );
  return USAGE_KINDS.flatMap((kind) => {
    const same = byKind.get(kind) ?? [];
    const units = same.reduce((sum, { usage }) => sum + unitsOf(kind, usage), 0n);
    if (units === 0n) return [];
    return [{ kind, units, amount: same.map(({ amount }) => amount).reduce(addFractions) }];
  });
}

/** The quota of the model type that makes a stage. Spoken lines belong to the video stage and count characters. */
function quotaOf(stage: string, usage: Usage): UsageKind | null {
  if (stage === "script" || stage === "roles") return definitionOf("chat").quota;
  if (stage === "storyboard") return definitionOf("image").quota;
  return definitionOf("characters" in usage ? "speech" : "video").quota;
}
