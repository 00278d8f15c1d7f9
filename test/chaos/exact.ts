import { CURRENCY_SCALE, PRICES } from "./config.ts";

/**
 * The audit's own arithmetic, written apart from the gateway's: amounts are whole numbers of 10⁻¹⁸, and
 * prices here are exact, before any rounding. A charge is rounded to the scale of the currency and what
 * rounding leaves is carried over to the account's next charge: each is less than one step away from
 * its exact price, and the sum of an account's charges is at most half a step away.
 */
const DIGITS = 18;
const ONE = 10n ** BigInt(DIGITS);
const STEP = 10n ** BigInt(DIGITS - CURRENCY_SCALE);

export interface Tokens {
  input: number;
  cached: number;
  output: number;
}

/** Reads "1.25" as 1250000000000000000n. */
export function amount(text: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d{1,18}))?$/.exec(text);
  if (match === null) throw new Error(`${text} is not an amount`);
  const [, sign, whole, decimals = ""] = match;
  const value = BigInt(whole! + decimals.padEnd(DIGITS, "0"));
  return sign === "-" ? -value : value;
}

export function written(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(DIGITS + 1, "0");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`
    .replace(/0+$/, "").replace(/\.$/, "");
}

const distance = (a: bigint, b: bigint) => a > b ? a - b : b - a;

/** Whether a charge is its exact price, but for the rounding that is carried over. */
export const isCharge = (charged: bigint, exact: bigint): boolean =>
  distance(charged, exact) < STEP;

/** The same for all charges of an account together. */
export const isSumOfCharges = (charged: bigint, exact: bigint): boolean =>
  2n * distance(charged, exact) <= STEP;

export function tokenPrice({ input, cached, output }: Tokens): bigint {
  const { talk } = PRICES;
  const sum = BigInt(input) * amount(talk.input) + BigInt(cached) * amount(talk.cached) +
    BigInt(output) * amount(talk.output);
  return sum / 1000n;
}

export const imagePrice = (images: number): bigint => BigInt(images) * amount(PRICES.image);

/** `seconds` may be a decimal such as "1.04". */
export function videoPrice(seconds: string | number): bigint {
  const length = amount(String(seconds));
  if (length === 0n) return 0n;
  const cost = length * amount(PRICES.second) / ONE;
  const minimum = amount(PRICES.videoMinimum);
  return cost > minimum ? cost : minimum;
}

export const speechPrice = (characters: number): bigint =>
  BigInt(characters) * amount(PRICES.characters) / 1000n;
