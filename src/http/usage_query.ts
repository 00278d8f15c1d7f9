import { USAGE_GROUPS, type UsageFilter, type UsageGroup } from "../domain/ledger/usage_page.ts";
import {
  type GroupedUsage,
  isNamed,
  type UsageReport,
  type UsageReportQuery,
} from "../domain/ledger/usage_report.ts";
import type { UsageSums } from "../domain/ledger/usage_sums.ts";
import { ApiError } from "../lib/api_error.ts";
import { plainCsvText, quoteCsv } from "../lib/csv.ts";
import { REPORTED_QUANTITIES } from "../model_types/usage.ts";
import { type HttpContext, sendJson } from "./exchange.ts";
import { readChoice } from "./read_choice.ts";

/** Groups that an endpoint offers: only operators see several accounts. */
export type OfferedGroups = readonly (typeof USAGE_GROUPS)[number][];
export const OWN_GROUPS: OfferedGroups = USAGE_GROUPS.filter((name) => name !== "account");

/** More are no report, and each is a column. */
const GROUPS_AT_ONCE = 6;
const METADATA = /^metadata\.(.{1,64})$/s;

/** `?group_by=` and the filters of a report, without its period. */
export function readUsageQuery(
  c: HttpContext,
  groupBy: string,
  offered: OfferedGroups,
): UsageReportQuery {
  return {
    groupBy: readGroups(groupBy, offered),
    filters: readUsageFilters(c, offered),
    signal: c.req.raw.signal,
  };
}

function readGroups(text: string, offered: OfferedGroups): UsageGroup[] {
  const groups = new Set(text.split(",").map((name) => toGroup(name, offered)));
  if (
    !groups.has(null) && groups.size === text.split(",").length && groups.size <= GROUPS_AT_ONCE
  ) {
    return [...groups] as UsageGroup[];
  }
  throw new ApiError(
    "invalid_value",
    `group_by must be up to ${GROUPS_AT_ONCE} different names out of ${offered.join(", ")} and ` +
      "metadata.<name>, separated by commas.",
    { param: "group_by" },
  );
}

function toGroup(name: string, offered: OfferedGroups): UsageGroup | null {
  if (METADATA.test(name)) return name as UsageGroup;
  return offered.find((group) => group === name) ?? null;
}

/** Every group but the day is a filter too. */
export function readUsageFilters(
  c: HttpContext,
  offered: OfferedGroups,
): Map<UsageFilter, string> {
  const filters = new Map<UsageFilter, string>();
  for (const [name, value] of Object.entries(c.req.query())) {
    const group = toGroup(name, offered);
    if (group !== null && group !== "day") filters.set(group, value);
  }
  return filters;
}

export function asksForCsv(c: HttpContext): boolean {
  return (readChoice(c, "format", ["json", "csv"]) ??
    (c.req.header("accept")?.includes("text/csv") ? "csv" : "json")) === "csv";
}

const COLUMNS = [
  "requests",
  "failed",
  "charged",
  "gift",
  "quota",
  "shortfall",
  ...REPORTED_QUANTITIES,
] as const satisfies readonly (keyof UsageSums)[];
/** Customers are not told what providers charge. */
export const OPERATOR_COLUMNS = [...COLUMNS, "cost", "uncosted"] as const;

type Columns = readonly (typeof OPERATOR_COLUMNS)[number][];

/** Sends a report as JSON or CSV, with the columns that the reader may see. */
export function sendUsageReport(
  c: HttpContext,
  groupBy: readonly UsageGroup[],
  { from, to, data, totals, archivedBefore }: UsageReport,
  columns: Columns = COLUMNS,
): Response {
  const names = groupBy.flatMap((group): (keyof GroupedUsage)[] =>
    isNamed(group) ? [group, `${group}_name`] : [group]
  );
  if (asksForCsv(c)) return sendUsageCsv([...names, ...columns], data);
  const pick = (sums: UsageSums) => columns.map((name) => [name, sums[name]] as const);
  return sendJson(JSON.stringify({
    object: "usage",
    currency: c.env.config.service.currency,
    from: from.toISOString(),
    to: to?.toISOString() ?? null,
    group_by: groupBy,
    data: data.map((usage) =>
      Object.fromEntries([...names.map((name) => [name, usage[name]] as const), ...pick(usage)])
    ),
    totals: Object.fromEntries(pick(totals)),
    archived_before: archivedBefore?.toISOString() ?? null,
  }));
}

function sendUsageCsv(
  names: readonly (keyof GroupedUsage)[],
  data: readonly GroupedUsage[],
): Response {
  const lines = data.map((usage) =>
    names.map((name) => quoteCsv(plainCsvText(String(usage[name] ?? "")))).join()
  );
  const head = names.map(quoteCsv).join();
  return new Response([head, ...lines, ""].join("\r\n"), {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="usage.csv"',
    },
  });
}
