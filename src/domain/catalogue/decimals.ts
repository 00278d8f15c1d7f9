import { decimal, formatDecimal, SCALE } from "../../lib/money.ts";

const NUMBER = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

/**
 * A number of a catalogue as a decimal string, times a power of ten: 1.5e-7 dollars for a token are 0.15 for a million.
 * By the digits that were written, so that no cent comes from binary arithmetic. Null if it is no amount, or one with
 * more decimals than a price can have.
 */
export function amountText(value: unknown, power = 0): string | null {
  if (typeof value !== "number" || !Number.isFinite(value)) return null;
  const match = NUMBER.exec(String(value));
  if (match === null) return null;
  const [, whole = "", fraction = "", exponent = "0"] = match;
  const places = fraction.length - Number(exponent) - power;
  const digits = BigInt(whole + fraction);
  if (places > SCALE) return digits === 0n ? "0.00" : null;
  return formatDecimal(digits * 10n ** BigInt(SCALE - places));
}

/** An amount times a factor, such as a markup. What is beyond the decimals of a price is rounded up. */
export function timesFactor(amount: string, factor: string): string {
  const one = 10n ** BigInt(SCALE);
  return formatDecimal((decimal(amount) * decimal(factor) + one - 1n) / one);
}

/** An amount of one unit as an amount of another: 0.15 for a million tokens are 0.00015 for a thousand. */
export function inUnit(amount: string, from: bigint, to: bigint): string {
  return formatDecimal((decimal(amount) * to + from - 1n) / from);
}
