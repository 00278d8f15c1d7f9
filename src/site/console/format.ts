import { withoutTrailing } from "../../lib/without_trailing.ts";

/**
 * Words for numbers, amounts and moments. Amounts come as decimal strings and stay strings: none passes
 * through a floating-point number.
 */
const LOCALE = "en";

/** `$1,234.50`; as many decimals as the amount has, two at the least. */
export function money(amount: string, currency: string): string {
  const [whole = "0", decimals = ""] = amount.replace("-", "").split(".");
  return written(amount, currency, whole, withoutTrailing(decimals, "0").padEnd(2, "0"));
}

/** The same cut to cents, for places where a digit more is noise; what is not nothing never shows as 0. */
export function moneyShort(amount: string, currency: string): string {
  if (/^-?0+\.00\d*[1-9]/.test(amount)) return `<${money("0.01", currency)}`;
  const [whole = "0", decimals = ""] = amount.replace("-", "").split(".");
  return written(amount, currency, whole, decimals.slice(0, 2).padEnd(2, "0"));
}

function written(amount: string, currency: string, whole: string, decimals: string): string {
  const [before, after] = frameOf(currency);
  const sign = amount.startsWith("-") ? "-" : "";
  return `${sign}${before}${grouped(whole)}.${decimals}${after}`;
}

/** Digits with a comma before every third from the end. */
function grouped(digits: string): string {
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) {
    groups.unshift(digits.slice(Math.max(0, end - 3), end));
  }
  return groups.join(",");
}

const frames = new Map<string, readonly [before: string, after: string]>();

/**
 * What stands around an amount of a currency. `Intl` says it once; a chart's thousand amounts are then
 * put together by hand, at a tenth of the time and to the last digit.
 */
function frameOf(currency: string): readonly [before: string, after: string] {
  let frame = frames.get(currency);
  if (frame === undefined) {
    const [before = "", after = ""] = new Intl.NumberFormat(LOCALE, {
      style: "currency",
      currency,
      currencyDisplay: "narrowSymbol",
      maximumFractionDigits: 0,
    }).format(1).split("1");
    frames.set(currency, frame = [before, after]);
  }
  return frame;
}

const whole = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat(LOCALE, { notation: "compact", maximumFractionDigits: 1 });

/** `12,345` */
export function formatCount(value: number | bigint): string {
  return whole.format(value);
}

/** `12.3K` */
export function countShort(value: number): string {
  return compact.format(value);
}

/** `1 call`, `12 calls` */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : many}`;
}

export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  if (value < 1_000_000) return `${(value / 1000).toFixed(value < 10_000 ? 1 : 0)} kB`;
  if (value < 1_000_000_000) {
    return `${(value / 1_000_000).toFixed(value < 10_000_000 ? 1 : 0)} MB`;
  }
  return `${(value / 1_000_000_000).toFixed(value < 100_000_000_000 ? 1 : 0)} GB`;
}

/** `1 h 5 min`, `12 s`; the two largest parts. */
export function duration(seconds: number): string {
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

const dayFormat = new Intl.DateTimeFormat(LOCALE, {
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});
const dateFormat = new Intl.DateTimeFormat(LOCALE, {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});
const momentFormat = new Intl.DateTimeFormat(LOCALE, {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hour12: false,
  timeZone: "UTC",
});

/** `Jan 31`, of a day such as 2026-01-31. */
export function dayShort(day: string): string {
  return dayFormat.format(new Date(`${day}T00:00:00Z`));
}

/** `Jan 31, 2026` */
export function date(moment: Date | number | string): string {
  return dateFormat.format(toDate(moment));
}

/** `Jan 31, 2026, 14:05 UTC` */
export function moment(value: Date | number | string): string {
  return `${momentFormat.format(toDate(value))} UTC`;
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
export function ago(value: Date | number | string, now = Date.now()): string {
  const seconds = (toDate(value).getTime() - now) / 1000;
  if (Math.abs(seconds) < 60) return seconds > 5 ? "in a moment" : "just now";
  const at = STEPS.findIndex(([limit]) => Math.abs(seconds) < limit);
  const [, unit] = STEPS[at]!;
  const [size] = STEPS[at - 1] ?? [1];
  return relative.format(Math.round(seconds / size), unit);
}

/** Numbers are Unix seconds, as the API has them. */
export function toDate(value: Date | number | string): Date {
  return typeof value === "number" ? new Date(value * 1000) : new Date(value);
}
