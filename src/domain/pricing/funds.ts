import { formatDecimal, type Fraction, roundUp } from "../../lib/money.ts";
import type { UsageKind } from "../../model_types/usage.ts";
import type { Quote } from "./quote.ts";

/** What an account can spend, in units of 10⁻¹². */
export interface Funds {
  readonly gift: bigint;
  readonly cash: bigint;
  readonly quotas: Readonly<Record<UsageKind, bigint>>;
}

/** What would pay for a quote, in the order of use. */
export interface Payment {
  /** Units of quota. */
  readonly quota: number;
  readonly gift: string;
  readonly cash: string;
  /** What the account lacks. */
  readonly missing: string;
}

type Quoted = Pick<Quote, "kind" | "amount" | "units">;

/** Quota pays for units first, then credits, then cash. */
export function payFrom(funds: Funds, quote: Quoted, scale: number): Payment {
  const { quota, owed } = owedOf(funds, quote, scale);
  const gift = least(funds.gift, owed);
  const cash = least(funds.cash, owed - gift);
  return {
    quota: Number(quota),
    gift: formatDecimal(gift),
    cash: formatDecimal(cash),
    missing: formatDecimal(owed - gift - cash),
  };
}

export function isCovered(funds: Funds, quote: Quoted, scale: number): boolean {
  return owedOf(funds, quote, scale).owed <= funds.gift + funds.cash;
}

/** The units that quota pays for, and the money for the rest. */
function owedOf({ quotas }: Funds, { kind, amount, units }: Quoted, scale: number) {
  const quota = kind === null ? 0n : least(quotas[kind], units);
  const rest: Fraction = quota === 0n
    ? amount
    : { num: amount.num * (units - quota), den: amount.den * units };
  return { quota, owed: roundUp(rest, scale) };
}

/** What a key can spend that has so much left of its budget; quotas do not count against it. */
export function withinBudget({ quotas, gift, cash }: Funds, left: bigint): Funds {
  const most = left > 0n ? left : 0n;
  const gifts = least(gift, most);
  return { quotas, gift: gifts, cash: least(cash, most - gifts) };
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/**
 * The largest number up to `most` whose quote is covered; 0 where not even 1 is. More must never cost less than
 * fewer.
 */
export function largestCovered(
  funds: Funds,
  { most, scale, quoteAt }: { most: number; scale: number; quoteAt: (count: number) => Quoted },
): number {
  let [covered, above] = [0, most + 1];
  while (above - covered > 1) {
    const middle = Math.floor((covered + above) / 2);
    if (isCovered(funds, quoteAt(middle), scale)) covered = middle;
    else above = middle;
  }
  return covered;
}
