import { decimal, formatDecimal, roundHalfUp, SCALE } from "../lib/money.ts";

/**
 * Text for numbers, amounts and times. Amounts come as decimal strings and stay exact: none passes through a
 * floating-point number.
 */
const LOCALE = "en";

/** What an amount is written in: `service` of the configuration. */
export interface MoneyFormat {
  readonly currency: string;
  /** The most decimals that an amount has. */
  readonly currencyScale: number;
}

/** Decimals that are written even when they are zeros. */
const DECIMALS_MIN = 2;

/** `$1,234.50`: two decimals, or up to the currency's scale where there are more. Never 0 for more than 0. */
export function formatMoney(amount: string, { currency, currencyScale }: MoneyFormat): string {
  const value = decimal(amount);
  const size = value < 0n ? -value : value;
  const sign = value < 0n ? "-" : "";
  const rounded = roundHalfUp({ num: size, den: 10n ** BigInt(SCALE) }, currencyScale);
  if (rounded === 0n && size !== 0n) {
    const smallest = 10n ** BigInt(SCALE - currencyScale);
    return `${sign}<${withSymbol(smallest, currency, currencyScale)}`;
  }
  return sign + withSymbol(rounded, currency, currencyScale);
}

/** A price per unit: all its decimals, since a token costs less than the smallest amount. */
export function formatPrice(amount: string, currency: string): string {
  return formatMoney(amount, { currency, currencyScale: SCALE });
}

/** `$12.34`: cut to cents, for axes. */
export function formatMoneyShort(amount: string, currency: string): string {
  const value = decimal(amount);
  const cent = 10n ** BigInt(SCALE - DECIMALS_MIN);
  if (value > 0n && value < cent) return `<${withSymbol(cent, currency)}`;
  return withSymbol(value / cent * cent, currency);
}

/** Whether an amount is zero. */
export function isZero(amount: string): boolean {
  return decimal(amount) === 0n;
}

function withSymbol(value: bigint, currency: string, scale = DECIMALS_MIN): string {
  const [before, after] = symbolOf(currency);
  const [whole = "0", decimals] = formatDecimal(value, Math.min(DECIMALS_MIN, scale)).split(".");
  return `${before}${grouped(whole)}${decimals === undefined ? "" : `.${decimals}`}${after}`;
}

/** Digits with a comma before every third from the end. */
function grouped(digits: string): string {
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) {
    groups.unshift(digits.slice(Math.max(0, end - 3), end));
  }
  return groups.join(",");
}

const symbols = new Map<string, readonly [before: string, after: string]>();

/** The currency symbol before or after an amount. `Intl` is asked once per currency: it is slow. */
function symbolOf(currency: string): readonly [before: string, after: string] {
  let symbol = symbols.get(currency);
  if (symbol === undefined) {
    const [before = "", after = ""] = new Intl.NumberFormat(LOCALE, {
      style: "currency",
      currency,
      currencyDisplay: "narrowSymbol",
      maximumFractionDigits: 0,
    }).format(1).split("1");
    symbols.set(currency, symbol = [before, after]);
  }
  return symbol;
}

const whole = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat(LOCALE, { notation: "compact", maximumFractionDigits: 1 });

/** `12,345` */
export function formatCount(value: number | bigint): string {
  return whole.format(value);
}

/** `12.3K` */
export function formatCountShort(value: number): string {
  return compact.format(value);
}

/** `1 request`, `12 requests`, `-1 image` */
export function plural(value: number | bigint, one: string, many = `${one}s`): string {
  return `${formatCount(value)} ${Math.abs(Number(value)) === 1 ? one : many}`;
}

export function formatBytes(value: number): string {
  if (value < 1000) return `${value} B`;
  if (value < 1_000_000) return `${(value / 1000).toFixed(value < 10_000 ? 1 : 0)} kB`;
  if (value < 1_000_000_000) {
    return `${(value / 1_000_000).toFixed(value < 10_000_000 ? 1 : 0)} MB`;
  }
  return `${(value / 1_000_000_000).toFixed(value < 100_000_000_000 ? 1 : 0)} GB`;
}

/** `1 h 5 min`, `12 s`: the two largest parts. */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds % 86_400 / 3600), "h"],
    [Math.floor(seconds % 3600 / 60), "min"],
    [Math.floor(seconds % 60), "s"],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  return parts.slice(first, first + 2).filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`).join(" ");
}

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
  [1, "second"],
];

/** `15 seconds`, `1 minute`, `3 days`: rounded to the largest unit, for sentences. */
export function formatRoundDuration(seconds: number): string {
  const [size, name] = UNITS.find(([size]) => seconds >= size) ?? [1, "second"];
  return plural(Math.round(seconds / size), name);
}

const dayFormat = new Intl.DateTimeFormat(LOCALE, {
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});
const dateFormat = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeZone: "UTC" });
const timeFormat = new Intl.DateTimeFormat(LOCALE, {
  dateStyle: "medium",
  timeStyle: "medium",
  hour12: false,
  timeZone: "UTC",
});

/** Numbers are Unix seconds, as the API has them. */
export type TimeValue = Date | number | string;

/** `Jan 31`, of a day such as 2026-01-31. */
export function formatDay(day: string): string {
  return dayFormat.format(new Date(`${day}T00:00:00Z`));
}

/** `Jan 31, 2026` */
export function formatDate(value: TimeValue): string {
  return dateFormat.format(toDate(value));
}

/** `Jan 31, 2026, 14:05:09 UTC`: the reader's time zone is known to scripts only. */
export function formatTime(value: TimeValue): string {
  return `${timeFormat.format(toDate(value))} UTC`;
}

const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: "auto" });
const STEPS: [seconds: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [60, "second"],
  [3600, "minute"],
  [86_400, "hour"],
  [86_400 * 30, "day"],
  [86_400 * 365, "month"],
  [Infinity, "year"],
];

/** `2 hours ago`, `in 3 days`; within a minute, `just now`. */
export function formatRelative(value: TimeValue, now = Date.now()): string {
  const seconds = (toDate(value).getTime() - now) / 1000;
  if (Math.abs(seconds) < 60) return seconds > 5 ? "in a moment" : "just now";
  const at = STEPS.findIndex(([limit]) => Math.abs(seconds) < limit);
  const [, unit] = STEPS[at]!;
  const [size] = STEPS[at - 1] ?? [1];
  return relative.format(Math.round(seconds / size), unit);
}

export function toDate(value: TimeValue): Date {
  return typeof value === "number" ? new Date(value * 1000) : new Date(value);
}

/** `images, videos, and speech` */
export function formatList(words: readonly string[]): string {
  return new Intl.ListFormat("en").format(words);
}
