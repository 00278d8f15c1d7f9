import { findDefinition, modelWithArticle } from "../../model_types/model_types.ts";
import { VARIANT_OPTIONS } from "../../model_types/price_terms.ts";
import { blockOf, type Checker, listOf } from "./checker.ts";
import type { GatewayFile } from "./gateway_file.ts";
import type { Path } from "./issues.ts";
import { LIMIT_OF } from "./request_points.ts";

type Keys = Record<string, unknown>;

/** Costs of upstreams: their units belong to the model type, and their tiers and variants make sense. */
export function checkCosts(checker: Checker, file: Partial<GatewayFile>): void {
  for (const [index, model] of listOf(file.models).map(blockOf).entries()) {
    const definition = findDefinition(model.type);
    for (const [at, upstream] of listOf(model.upstreams).map(blockOf).entries()) {
      const cost = blockOf(upstream.cost);
      const path: Path = ["models", index, "upstreams", at, "cost"];
      checkTerms(checker, path, cost, model);
      const units = Object.values(definition?.units ?? {}).flat();
      if (typeof cost.unit !== "string" || units.length === 0 || units.includes(cost.unit)) {
        continue;
      }
      checker.report([...path, "unit"], {
        message: `${checker.sourceText([...path, "unit"])} is not a unit of ${
          modelWithArticle(model.type)
        }: use ${units.join(", ")}`,
      });
    }
  }
}

/** What prices and costs have in common: each tier starts elsewhere, and each variant can apply. */
export function checkTerms(checker: Checker, at: Path, terms: Keys, model: Keys): void {
  const starts = new Map<unknown, number>();
  for (const [index, tier] of listOf(terms.tiers).map(blockOf).entries()) {
    const { above_input_tokens: above } = tier;
    const first = starts.get(above);
    if (above !== undefined && first !== undefined) {
      checker.report([...at, "tiers", index, "above_input_tokens"], {
        message: `tiers[${first}] already starts there`,
      });
    } else starts.set(above, index);
  }
  for (const [index, variant] of listOf(terms.variants).map(blockOf).entries()) {
    warnUnmet(checker, [...at, "variants", index, "when"], blockOf(variant.when), model);
  }
}

/** A value that no request may have. */
function warnUnmet(checker: Checker, at: Path, when: Keys, model: Keys): void {
  const allowed = findDefinition(model.type)?.limits ?? [];
  const limits = blockOf(model.limits);
  if (when.audio === true && !listOf(model.capabilities).includes("audio")) {
    checker.report([...at, "audio"], {
      severity: "warning",
      message: "never holds: audio is not among the capabilities of the model",
    });
  }
  for (const option of VARIANT_OPTIONS) {
    const limit = LIMIT_OF[option];
    if (when[option] === undefined || limit === null) continue;
    const offered = listOf(limits[limit]);
    const isOpen = offered.length === 0 && limit !== "qualities" && limit !== "resolutions" &&
      allowed.includes(limit);
    const isMet = isOpen || [when[option]].flat().some((value) => offered.includes(value));
    if (isMet) continue;
    checker.report([...at, option], {
      severity: "warning",
      message: `never holds: it is not among limits.${limit} of the model`,
    });
  }
}
