const LOCALE = "en";
const REFRESH_MS = 30_000;

const timeFormat = new Intl.DateTimeFormat(LOCALE, {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
});
const dateFormat = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium" });
const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: "auto" });
const UNITS: readonly (readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [86_400 * 365, "year"],
  [86_400 * 30, "month"],
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
];

/** Writes every `<time data-time>` in the visitor's time zone. Relative ones stay up to date. */
export function localizeTimes(): void {
  for (const element of document.querySelectorAll<HTMLTimeElement>("time[data-time]")) {
    const at = new Date(element.dateTime);
    if (element.dataset.time === "time") element.textContent = timeFormat.format(at);
    else if (element.dataset.time === "date") element.textContent = dateFormat.format(at);
    else element.title = `${timeFormat.format(at)} (${element.title})`;
  }
  setInterval(refreshRelative, REFRESH_MS);
}

function refreshRelative(): void {
  for (const element of document.querySelectorAll<HTMLTimeElement>('time[data-time="relative"]')) {
    element.textContent = relativeText(new Date(element.dateTime));
  }
}

/** As `formatRelative` of the server. */
function relativeText(at: Date): string {
  const seconds = (at.getTime() - Date.now()) / 1000;
  const unit = UNITS.find(([size]) => Math.abs(seconds) >= size);
  if (unit === undefined) return seconds > 5 ? "in a moment" : "just now";
  return relative.format(Math.round(seconds / unit[0]), unit[1]);
}
