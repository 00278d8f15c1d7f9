import { quoteCsv } from "../../lib/csv.ts";
import type { PriceTerms } from "../../model_types/price_terms.ts";
import type { Config, PriceBook } from "../../platform/config/config.ts";
import { priceInForce } from "../../platform/config/config.ts";

/** One amount of a price or of a cost. */
export interface ExportedAmount {
  readonly model: string;
  /** provider/model of a cost; null for the price. */
  readonly upstream: string | null;
  readonly unit: string;
  /** Under which circumstances; empty: always. */
  readonly applies: string;
  readonly amount_of: string;
  readonly amount: string;
}

export const EXPORT_COLUMNS = [
  "model",
  "upstream",
  "unit",
  "applies",
  "amount_of",
  "amount",
] as const satisfies readonly (keyof ExportedAmount)[];

/** Every amount that a book charges at a time, and what the upstreams of its models cost. */
export function listAmounts(config: Config, book: PriceBook, now: number): ExportedAmount[] {
  return [...config.models.values()].flatMap(({ id: model, upstreams }) => {
    const price = priceInForce(book, model, now);
    const own = price === null ? [] : [{ upstream: null, unit: price.unit, terms: price.terms }];
    const costs = upstreams.flatMap(({ provider, model: name, cost }) =>
      cost === null ? [] : [{ upstream: `${provider}/${name}`, ...splitUnit(cost) }]
    );
    return [...own, ...costs].flatMap(({ upstream, unit, terms }) =>
      amountsOf(terms).map((amount) => ({ model, upstream, unit, ...amount }))
    );
  });
}

function splitUnit({ unit, ...terms }: PriceTerms & { unit: string }) {
  return { unit, terms };
}

type Amount = Pick<ExportedAmount, "applies" | "amount_of" | "amount">;

function amountsOf(terms: PriceTerms): Amount[] {
  const { tiers = [], service_tiers = {}, fees = {}, variants = [], ...base } = terms;
  return [
    ...plainAmounts(base, ""),
    ...tiers.flatMap(({ above_input_tokens: above, ...amounts }) =>
      plainAmounts(amounts, `more than ${above} input tokens`)
    ),
    ...Object.entries(service_tiers).flatMap(([name, amounts]) =>
      plainAmounts(amounts, `service_tier ${name}`)
    ),
    ...plainAmounts(fees, ""),
    ...variants.flatMap(({ when, price }) => plainAmounts({ price }, conditionsText(when))),
  ];
}

function plainAmounts(amounts: object, applies: string): Amount[] {
  return Object.entries(amounts).filter(([, amount]) => amount !== undefined).map((
    [amount_of, amount],
  ) => ({ applies, amount_of, amount }));
}

function conditionsText(when: object): string {
  return Object.entries(when).map(([name, value]) => `${name} ${[value].flat().join(" or ")}`)
    .join(", ");
}

export function amountsCsv(amounts: readonly ExportedAmount[]): string {
  const lines = amounts.map((each) =>
    EXPORT_COLUMNS.map((name) => quoteCsv(each[name] ?? "")).join(",")
  );
  return [EXPORT_COLUMNS.join(","), ...lines].join("\r\n");
}
