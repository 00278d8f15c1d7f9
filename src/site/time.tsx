import { formatDate, formatRelative, formatTime, type TimeValue, toDate } from "./format.ts";

/**
 * A point in time. Without scripts the text is in UTC; the script of every page writes it in the visitor's
 * time zone. The title always has the exact time in UTC.
 */
export function Time(
  { at, as = "time" }: { at: TimeValue; as?: "time" | "date" | "relative" },
) {
  const text = { time: formatTime, date: formatDate, relative: formatRelative }[as](at);
  return (
    <time datetime={toDate(at).toISOString()} data-time={as} title={formatTime(at)}>
      {text}
    </time>
  );
}
