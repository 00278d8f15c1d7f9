import type { PriceTerms } from "../../model_types/price_terms.ts";

/** Amounts are strings in these places; a multiplier is none, and conditions are none. */
type Terms = Readonly<Record<string, unknown>>;

/** The same terms with every amount of money changed. */
export function mapAmounts<T extends PriceTerms>(terms: T, change: (amount: string) => string): T {
  return mapKeys(terms as Terms, change) as T;
}

function mapKeys(terms: Terms, change: (amount: string) => string): Terms {
  const mapped = Object.entries(terms).map(([name, value]) => {
    if (Array.isArray(value)) return [name, value.map((each) => mapKeys(each, change))];
    if (name === "when") return [name, value];
    if (typeof value === "object" && value !== null) return [name, mapKeys(value as Terms, change)];
    const isAmount = typeof value === "string" && name !== "multiplier" && name !== "unit";
    return [name, isAmount ? change(value) : value];
  });
  return Object.fromEntries(mapped);
}
