import {
  type OptionValue,
  type PriceTerms,
  type RequestOptions,
  VARIANT_OPTIONS,
  type VariantOption,
} from "../../model_types/price_terms.ts";
import { blockOf, listOf } from "./checker.ts";

type Keys = Record<string, unknown>;

/** The limit of a model that lists the values of an option; null: it has none. */
export const LIMIT_OF: Readonly<Record<VariantOption, string | null>> = {
  size: "sizes",
  quality: "qualities",
  resolution: "resolutions",
  audio: null,
  aspect_ratio: "aspect_ratios",
  duration: "durations",
  voice: "voices",
  response_format: "formats",
};

/** More combinations than this are not compared: a bad file must cost little time. */
const POINTS_MAX = 512;

/** Requests that differ in what the variants of these prices depend on, one for each combination. */
export function requestPoints(prices: readonly Keys[], limits: Keys): RequestOptions[] {
  const conditions = prices.flatMap(({ variants }) =>
    listOf(variants).map((variant) => blockOf(blockOf(variant).when))
  );
  let points: RequestOptions[] = [{}];
  for (const option of VARIANT_OPTIONS) {
    const named = conditions.flatMap((when) => when[option] ?? []) as OptionValue[];
    if (named.length === 0) continue;
    const offered = listOf(limits[LIMIT_OF[option] ?? ""]) as OptionValue[];
    // Without a list of the model, a request may also have a value that no variant names.
    const values = offered.length > 0 ? offered : [undefined, ...new Set(named)];
    points = points.flatMap((point) =>
      values.map((value) => value === undefined ? point : { ...point, [option]: value })
    );
    if (points.length > POINTS_MAX) return points.slice(0, POINTS_MAX);
  }
  return points;
}

/** The variants of a price in a file that may be invalid: those that are not complete match nothing. */
export function writtenVariants({ variants }: Keys): NonNullable<PriceTerms["variants"]> {
  return listOf(variants).map((variant) => {
    const { when, price } = blockOf(variant);
    const conditions = blockOf(when) as RequestOptions;
    return {
      when: Object.keys(conditions).length > 0 ? conditions : { size: "" },
      price: typeof price === "string" ? price : "",
    };
  });
}
