import { archivedBefore } from "../../domain/ledger/archived.ts";
import {
  type GroupedMargin,
  listMargins,
  MARGIN_GROUPS,
  type MarginGroup,
  type MarginQuery,
  partlyArchived,
} from "../../domain/ledger/margins.ts";
import { ApiError } from "../../lib/api_error.ts";
import { quoteCsv } from "../../lib/csv.ts";
import { readMoment } from "../endpoints/usage.ts";
import { type Endpoint, type HttpContext, sendJson } from "../exchange.ts";
import { readChoice } from "../read_choice.ts";
import type { RouteDeps } from "../routes/route.ts";

const DEFAULT_GROUPS: readonly MarginGroup[] = ["month", "model", "provider", "account", "plan"];
const MONTHS_BY_DEFAULT = 12;

/** GET /admin/v1/margins: revenue against what upstreams charge, as JSON or CSV. */
export function listMarginsEndpoint({ database: { sql } }: RouteDeps): Endpoint {
  return async function listMarginsEndpoint(c) {
    const query = readQuery(c);
    const isCsv = readChoice(c, "format", ["json", "csv"]) === "csv" ||
      c.req.header("accept")?.includes("text/csv") === true;
    const { data, totals } = await listMargins(sql, query);
    if (isCsv) return sendCsv(query.groupBy, data);
    const [before, partly] = await Promise.all([archivedBefore(sql), partlyArchived(sql, query)]);
    return sendJson(JSON.stringify({
      object: "margins",
      currency: c.env.config.service.currency,
      from: query.from,
      to: query.to ?? null,
      group_by: query.groupBy,
      data,
      totals,
      archived_before: before?.toISOString() ?? null,
      archived_partly: partly,
    }));
  };
}

function readQuery(c: HttpContext): MarginQuery {
  const { account, model, provider, plan } = c.req.query();
  return { groupBy: readGroups(c), ...readDays(c), account, model, provider, plan };
}

function readGroups(c: HttpContext): readonly MarginGroup[] {
  const text = c.req.query("group_by");
  if (text === undefined) return DEFAULT_GROUPS;
  const groups = text.split(",").map((name) => MARGIN_GROUPS.find((group) => group === name));
  const known = new Set(groups.filter((group) => group !== undefined));
  if (known.size === groups.length) return [...known];
  throw new ApiError(
    "invalid_value",
    `group_by must be names out of ${MARGIN_GROUPS.join(", ")}, each once and separated by commas.`,
    { param: "group_by" },
  );
}

/** `?month=`, or `?from=&to=`; by default this month and the eleven before it. */
function readDays(c: HttpContext): { from: string; to?: string | undefined } {
  const month = c.req.query("month");
  if (month === undefined) {
    return {
      from: readDay(c, "from") ?? firstOfMonth(1 - MONTHS_BY_DEFAULT),
      to: readDay(c, "to"),
    };
  }
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) {
    throw new ApiError("invalid_value", "month must be a month such as 2026-01.", {
      param: "month",
    });
  }
  const [year, number] = month.split("-").map(Number);
  return { from: `${month}-01`, to: dayOf(Date.UTC(year!, number!)) };
}

function readDay(c: HttpContext, name: string): string | undefined {
  const moment = readMoment(c, name);
  if (moment === undefined || moment.getTime() % 86_400_000 === 0) {
    return moment && dayOf(moment.getTime());
  }
  throw new ApiError(
    "invalid_value",
    `${name} must be the beginning of a day in UTC, such as 2026-01-31.`,
    { param: name },
  );
}

/** The first day of this month, or of one so many months later. */
function firstOfMonth(later: number, now = new Date()): string {
  return dayOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + later));
}

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

const COLUMNS = [
  "requests",
  "failed",
  "revenue",
  "gift",
  "quota",
  "shortfall",
  "capped",
  "cost",
  "uncosted",
  "uncosted_revenue",
  "margin",
  "margin_percent",
] as const satisfies readonly (keyof GroupedMargin)[];

/** Amounts that are not known say so: an empty field would count as zero in a spreadsheet. */
const UNKNOWN_IN_CSV: ReadonlySet<string> = new Set(["cost", "margin"]);

function sendCsv(groupBy: readonly MarginGroup[], data: readonly GroupedMargin[]): Response {
  const names = [...groupBy, ...COLUMNS];
  const lines = data.map((margin) =>
    names.map((name) =>
      quoteCsv(String(margin[name] ?? (UNKNOWN_IN_CSV.has(name) ? "unknown" : "")))
    ).join()
  );
  return new Response([names.join(), ...lines, ""].join("\r\n"), {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="margins.csv"',
    },
  });
}
