const DAY = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });
const MOMENT = new Intl.DateTimeFormat("en", {
  dateStyle: "medium",
  timeStyle: "short",
  timeZone: "UTC",
});
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const STEPS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** `Mar 3, 2026` */
export function day(moment: Date | number): string {
  return DAY.format(moment);
}

/** `Mar 3, 2026, 2:05 PM UTC`: the reader's zone is not known here. */
export function moment(moment: Date | number): string {
  return `${MOMENT.format(moment)} UTC`;
}

/** `5 minutes ago`, `yesterday`; further away than a month, the day. */
export function ago(moment: number, now: number): string {
  const seconds = Math.round((moment - now) / 1000);
  if (Math.abs(seconds) > 30 * 86_400) return day(moment);
  const [unit, length] = STEPS.find(([, length]) => Math.abs(seconds) >= length) ?? [null, 0];
  return unit === null ? "just now" : RELATIVE.format(Math.trunc(seconds / length), unit);
}
