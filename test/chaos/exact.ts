import { CURRENCY_SCALE, PRICES } from "./declaration.ts";

/**
 * The audit's own arithmetic, written apart from the gateway's: amounts are whole numbers of 10⁻¹², and a
 * charge is rounded once, half up, to the scale of the currency.
 */
const DIGITS = 12;
const ONE = 10n ** 12n;

export interface Tokens {
  input: number;
  cached: number;
  output: number;
}

/** Reads "1.25" as 1250000000000n. */
export function amount(text: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (match === null) throw new Error(`${text} is not an amount`);
  const [, sign, whole, decimals = ""] = match;
  const value = BigInt(whole! + decimals.padEnd(DIGITS, "0").slice(0, DIGITS));
  return sign === "-" ? -value : value;
}

export function written(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(DIGITS + 1, "0");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`
    .replace(/0+$/, "").replace(/\.$/, "");
}

/** num / den, half up to the scale of the currency. */
function rounded(num: bigint, den: bigint): bigint {
  const step = 10n ** BigInt(DIGITS - CURRENCY_SCALE);
  return (2n * num + den * step) / (2n * den * step) * step;
}

export function tokenCharge({ input, cached, output }: Tokens): bigint {
  const { talk } = PRICES;
  const sum = BigInt(input) * amount(talk.input) + BigInt(cached) * amount(talk.cached) +
    BigInt(output) * amount(talk.output);
  return rounded(sum, 1000n);
}

export const imageCharge = (images: number): bigint =>
  rounded(BigInt(images) * amount(PRICES.image), 1n);

/** `seconds` may be a decimal such as "1.04". */
export function videoCharge(seconds: string | number): bigint {
  const length = amount(String(seconds));
  if (length === 0n) return 0n;
  const cost = rounded(length * amount(PRICES.second), ONE);
  const minimum = amount(PRICES.videoMinimum);
  return cost > minimum ? cost : minimum;
}

export const speechCharge = (characters: number): bigint =>
  rounded(BigInt(characters) * amount(PRICES.characters), 1000n);
