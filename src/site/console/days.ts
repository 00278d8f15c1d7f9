import { ApiError } from "../../lib/api_error.ts";
import type { SiteContext } from "../context.ts";

/** The days of a filter: as they were sent, and as moments. */
export interface DayPeriod {
  from: string | undefined;
  to: string | undefined;
  span: { from?: Date; to?: Date };
}

/** Days as date inputs send them; in UTC. */
export function readDays(c: SiteContext): DayPeriod {
  const [from, to] = [["from", "From"], ["to", "Before"]].map(([name, label]) => {
    const day = c.req.query(name!);
    if (day === undefined || day === "") return undefined;
    if (!/^(?!0000)\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(Date.parse(day))) {
      throw new ApiError("invalid_value", `${label} must be a date such as 2026-01-31.`);
    }
    return day;
  });
  const toDate = (day: string | undefined) => day === undefined ? undefined : new Date(day);
  return { from, to, span: { from: toDate(from), to: toDate(to) } };
}
