/**
 * `Retry-After` in whole seconds, at most `max`; a date is converted to seconds from now. Undefined for anything else,
 * and for a date that has passed: clocks differ.
 */
export function retryAfter(
  header: string | null,
  max: number,
  now: number = Date.now(),
): number | undefined {
  const text = header?.trim() ?? "";
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : secondsUntil(text, now);
  return seconds >= 0 ? Math.min(Math.ceil(seconds), max) : undefined;
}

/** `Date.parse` accepts almost any text: a date of HTTP begins with its weekday. */
function secondsUntil(date: string, now: number): number {
  return /^[A-Za-z]{3,9},/.test(date) ? (Date.parse(date) - now) / 1000 : NaN;
}
