import { withoutTrailing } from "./without_trailing.ts";

/**
 * Exact decimals: a `bigint` counting units of 10⁻¹². Twelve decimals hold a price of one
 * ten-thousandth of a cent per thousand tokens and what one token of it costs, without rounding.
 */
export const SCALE = 12;
const ONE = 10n ** BigInt(SCALE);
const DECIMAL = /^(-?)(\d{1,20})(?:\.(\d{1,12}))?$/;

/** Reads a decimal string; `null` when it is not one (no exponent, no sign but minus, no spaces). */
export function parseDecimal(text: string): bigint | null {
  const match = DECIMAL.exec(text);
  if (match === null) return null;
  const [, sign, whole, fraction = ""] = match;
  const value = BigInt(whole!) * ONE + BigInt(fraction.padEnd(SCALE, "0"));
  return sign === "-" ? -value : value;
}

/** Reads a decimal string that is known to be one. */
export function decimal(text: string): bigint {
  const value = parseDecimal(text);
  if (value === null) throw new TypeError(`Cannot read "${text}" as a decimal amount`);
  return value;
}

/** Writes an amount with at least `decimals` places and no further trailing zeros. */
export function formatDecimal(value: bigint, decimals = 2): string {
  const digits = (value < 0n ? -value : value).toString().padStart(SCALE + 1, "0");
  const whole = digits.slice(0, -SCALE);
  let fraction = withoutTrailing(digits.slice(-SCALE), "0");
  fraction = fraction.padEnd(decimals, "0");
  return `${value < 0n ? "-" : ""}${whole}${fraction === "" ? "" : "." + fraction}`;
}

/** A decimal as Postgres writes it, with at least `decimals` places and no further trailing zeros. */
export function trimDecimal(text: string, decimals = 2): string {
  const [whole, fraction = ""] = text.split(".");
  const kept = withoutTrailing(fraction, "0").padEnd(decimals, "0");
  return kept === "" ? whole! : `${whole}.${kept}`;
}

/**
 * An exact amount of currency, also where no decimal ends: a second at 0.10 per minute costs 1/600.
 * Rounded once, when it is charged.
 */
export interface Fraction {
  readonly num: bigint;
  /** Above zero. */
  readonly den: bigint;
}

/** A decimal string as a fraction. */
export function fraction(text: string): Fraction {
  return { num: decimal(text), den: ONE };
}

/** The least amount at `scale` decimals that is not below; in units of 10⁻¹², as `decimal` reads them. */
export function roundUp({ num, den }: Fraction, scale: number): bigint {
  return (num * 10n ** BigInt(scale) + den - 1n) / den * step(scale);
}

/** The nearest amount at `scale` decimals, the greater one of two equally near. */
export function roundHalfUp({ num, den }: Fraction, scale: number): bigint {
  return (2n * num * 10n ** BigInt(scale) + den) / (2n * den) * step(scale);
}

function step(scale: number): bigint {
  return 10n ** BigInt(SCALE - scale);
}

/** Reduced to lowest terms: dozens of amounts would make very long denominators. */
export function addFractions(a: Fraction, b: Fraction): Fraction {
  const num = a.num * b.den + b.num * a.den;
  const den = a.den * b.den;
  const divisor = greatestCommonDivisor(num, den);
  return { num: num / divisor, den: den / divisor };
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a === 0n ? 1n : a;
}
