import { findVariant, type RequestOptions } from "../../model_types/price_terms.ts";
import { unitOf } from "../../model_types/units.ts";
import { blockOf, type Checker, listOf } from "./checker.ts";
import { formatPath, type Path } from "./issues.ts";
import {
  circumstancesOf,
  tokenAmounts,
  type TokenCircumstances,
  unitAmount,
  type WrittenAmount,
} from "./price_blocks.ts";
import { requestPoints, writtenVariants } from "./request_points.ts";

type Keys = Record<string, unknown>;

/** A price of this many times its cost, or that of its neighbours, was probably meant for another unit. */
const THOUSANDFOLD = 500n;

/** A price, its cost in the same circumstances, and the circumstances in words. */
interface Compared {
  readonly price: WrittenAmount;
  readonly cost: WrittenAmount;
  readonly where: string;
}

/** Warns about prices below the cost of an upstream in any tier or variant, and about a wrong unit. */
export function warnMargins(
  checker: Checker,
  at: Path,
  entry: Keys,
  priced: { model: Keys; index: number },
): void {
  const reported = new Set<string>();
  const report = (path: Path, message: string) => {
    // A key that a tier leaves out would be reported for every tier.
    if (reported.has(formatPath(path))) return;
    reported.add(formatPath(path));
    checker.report([...at, ...path], { severity: "warning", message });
  };
  for (const [index, upstream] of listOf(priced.model.upstreams).map(blockOf).entries()) {
    const cost = blockOf(upstream.cost);
    if (unitOf(entry.unit) === null || unitOf(entry.unit)!.family !== unitOf(cost.unit)?.family) {
      continue;
    }
    // Names neither the provider nor the cost: more people can read the log than this file.
    const source = formatPath(["models", priced.index, "upstreams", index]);
    for (const { price, cost: paid, where } of compare(entry, cost, blockOf(priced.model.limits))) {
      if (price.num * paid.den < paid.num * price.den) {
        report(price.path, `is below the cost of ${source}${where}`);
      } else if (paid.num > 0n && isThousandfold(price, paid)) {
        report(
          price.path,
          `is more than ${THOUSANDFOLD} times the cost of ${source}: check the unit`,
        );
      }
    }
  }
}

function compare(entry: Keys, cost: Keys, limits: Keys): Compared[] {
  if (unitOf(entry.unit)!.family !== "tokens") return compareVariants(entry, cost, limits);
  return circumstancesOf(entry, cost).flatMap((circumstances) => {
    const [prices, costs] = [entry, cost].map((one) => tokenAmounts(one, circumstances));
    return [...prices!].flatMap(([name, price]) => {
      const paid = costs!.get(name);
      return paid === undefined ? [] : [{ price, cost: paid, where: tierText(circumstances) }];
    });
  });
}

function compareVariants(entry: Keys, cost: Keys, limits: Keys): Compared[] {
  return requestPoints([entry, cost], limits).flatMap((point) => {
    const [price, paid] = [entry, cost].map((one) => amountAt(one, point));
    if (!price || !paid) return [];
    const options = Object.entries(point).map(([name, value]) => `${name} ${value}`);
    const where = options.length === 0 ? "" : ` with ${options.join(", ")}`;
    return [{ price, cost: paid, where }];
  });
}

function amountAt(block: Keys, point: RequestOptions): WrittenAmount | null {
  const variants = writtenVariants(block);
  const found = findVariant({ variants }, point);
  return unitAmount(block, found === undefined ? null : variants.indexOf(found));
}

function tierText({ inputTokens, serviceTier }: TokenCircumstances): string {
  return (inputTokens > 1 ? ` above ${inputTokens - 1} input tokens` : "") +
    (serviceTier === null ? "" : ` with service_tier ${serviceTier}`);
}

/** A price of a book and its place in the file. */
export interface PlacedPrice {
  readonly at: Path;
  readonly entry: Keys;
}

/** Warns about a price far above those of the other models of its book: 1K for 1M, say. */
export function warnAboveNeighbours(checker: Checker, prices: readonly PlacedPrice[]): void {
  const amounts = prices.flatMap(({ at, entry }) => {
    const family = unitOf(entry.unit)?.family;
    const amount = firstAmount(entry);
    return family === undefined || amount === null || amount.num === 0n
      ? []
      : [{ at, family, amount }];
  });
  for (const neighbours of Map.groupBy(amounts, ({ family }) => family).values()) {
    const sorted = neighbours.toSorted((a, b) => order(a.amount, b.amount));
    for (const [rank, { at, amount }] of sorted.entries()) {
      // The median of the others.
      const middle = Math.floor((sorted.length - 1) / 2);
      const other = sorted[rank <= middle ? middle + 1 : middle]?.amount;
      if (other === undefined || other === amount || !isThousandfold(amount, other)) continue;
      checker.report([...at, ...amount.path], {
        severity: "warning",
        message: `is more than ${THOUSANDFOLD} times the price of its neighbours: check the unit`,
      });
    }
  }
}

function firstAmount(entry: Keys): WrittenAmount | null {
  const tokens = tokenAmounts(entry, { inputTokens: 1, serviceTier: null }).get("input_price");
  return tokens ?? unitAmount(entry, null);
}

function order(a: WrittenAmount, b: WrittenAmount): number {
  const difference = a.num * b.den - b.num * a.den;
  return difference === 0n ? 0 : difference > 0n ? 1 : -1;
}

function isThousandfold(price: WrittenAmount, other: WrittenAmount): boolean {
  return price.num * other.den >= THOUSANDFOLD * other.num * price.den;
}
