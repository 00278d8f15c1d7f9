import { decimal, formatDecimal } from "../../lib/money.ts";
import { COUNTED_QUANTITIES } from "../../model_types/usage.ts";

const COUNTS = [
  "requests",
  "failed",
  "quota",
  ...COUNTED_QUANTITIES,
  "uncosted",
] as const;
const AMOUNTS = ["charged", "gift", "shortfall", "cost"] as const;
/** Seconds may be fractions, so they are summed as amounts are. */
const EXACT = [...AMOUNTS, "seconds"] as const;

/**
 * Sums of a group. `requests` were charged and `failed` were not; `charged` is money, of which `gift` was promotional
 * credit; what quotas paid for is in `quota`, in their units. For operators only: `cost` is what upstreams charge as
 * far as it is configured, and `uncosted` the number of requests that are not in it.
 */
export type UsageSums =
  & { readonly [name in (typeof COUNTS)[number]]: number }
  & { readonly [name in (typeof EXACT)[number]]: string };

/** Sums with amounts in units of 10⁻¹². */
export type Sums = Record<(typeof COUNTS)[number], bigint> & Record<(typeof EXACT)[number], bigint>;
/** The same as the database writes them. */
export type SumRow = Record<keyof Sums, string>;

export function noUsage(): Sums {
  return Object.fromEntries([...COUNTS, ...EXACT].map((name) => [name, 0n])) as Sums;
}

export function toSums(row: SumRow): Sums {
  const sums = noUsage();
  for (const name of COUNTS) sums[name] = BigInt(row[name]);
  for (const name of EXACT) sums[name] = decimal(row[name]);
  return sums;
}

export function addTo(sums: Sums, more: Sums): Sums {
  for (const name of [...COUNTS, ...EXACT]) sums[name] += more[name];
  return sums;
}

export function toUsageSums(sums: Sums): UsageSums {
  return Object.fromEntries([
    ...COUNTS.map((name) => [name, Number(sums[name])]),
    ...AMOUNTS.map((name) => [name, formatDecimal(sums[name])]),
    ["seconds", formatDecimal(sums.seconds, 0)],
  ]) as UsageSums;
}
