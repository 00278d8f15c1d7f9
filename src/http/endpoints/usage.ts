import { ApiError } from "../../lib/api_error.ts";
import { isMoment } from "../../lib/json_schema/request_ajv.ts";
import { isStorableDate } from "../../lib/storable_date.ts";
import { timeOfId } from "../../lib/ids.ts";
import { archivedBefore } from "../../domain/ledger/archived.ts";
import { exportCsv, type ExportQuery } from "../../domain/ledger/export_csv.ts";
import { findReceipt, listUsage } from "../../domain/ledger/statement.ts";
import { UsageReports } from "../../domain/ledger/usage_report.ts";
import type { Database } from "../../platform/database/database.ts";
import { accountOf, type Endpoint, type HttpContext, sendJson } from "../exchange.ts";
import { readPage, sendJsonPage } from "../paging.ts";
import {
  asksForCsv,
  OWN_GROUPS,
  readUsageFilters,
  readUsageQuery,
  sendUsageReport,
} from "../usage_query.ts";

/**
 * GET /v1/usage: receipts, newest first. With `group_by` their sums, as JSON or CSV; without it CSV is the statement,
 * which is every transfer.
 */
export function listUsageEndpoint({ database }: { database: Database }): Endpoint {
  const reports = new UsageReports(database);
  return async function listUsageEndpoint(c) {
    const account = accountOf(c).id;
    const groupBy = c.req.query("group_by");
    if (groupBy !== undefined) {
      const query = { ...readUsageQuery(c, groupBy, OWN_GROUPS), ...readPeriod(c) };
      const filters = new Map(query.filters).set("account", account);
      return sendUsageReport(c, query.groupBy, await reports.read({ ...query, filters }));
    }
    refuseFilters(c);
    const period = readPeriod(c);
    if (asksForCsv(c)) return sendStatement(database, { account, ...period });
    const query = { ...readPage(c), ...period, account, model: c.req.query("model") };
    const [{ data, hasMore }, before] = await Promise.all([
      listUsage(database.sql, query, c.env.config.service.currency),
      archivedBefore(database.sql),
    ]);
    return sendJsonPage(data, hasMore, { archived_before: before?.toISOString() ?? null });
  };
}

/** Only reports have these: a list that ignores them would be taken for a filtered one. */
function refuseFilters(c: HttpContext): void {
  const name = readUsageFilters(c, OWN_GROUPS).keys().find((name) => name !== "model");
  if (name === undefined) return;
  const message = `${name} filters sums: send it with group_by. Receipts are filtered by model.`;
  throw new ApiError("invalid_value", message, { param: name });
}

/** GET /v1/usage/{request_id}: the receipt of one request. */
export function retrieveReceipt({ database }: { database: Database }): Endpoint {
  return async function retrieveReceipt(c) {
    const id = c.req.param("request_id") ?? "";
    const receipt = await findReceipt(
      database.sql,
      accountOf(c).id,
      id,
      c.env.config.service.currency,
    );
    if (receipt === null) throw await noReceipt(database, id);
    return sendJson(JSON.stringify(receipt));
  };
}

async function noReceipt({ sql }: Database, id: string): Promise<ApiError> {
  const day = (await archivedBefore(sql))?.toISOString().slice(0, 10);
  const isArchived = day !== undefined && (timeOfId(id) ?? Infinity) < Date.parse(day);
  const message = isArchived
    ? `Receipts before ${day} are archived: the statement has totals of their months.`
    : "No receipt found for this request id.";
  return new ApiError("not_found", message, { param: "request_id" });
}

export interface Period {
  from?: Date | undefined;
  to?: Date | undefined;
}

/** `?from=&to=`, as dates with offset or Unix seconds. */
export function readPeriod(c: HttpContext): Period {
  return { from: readMoment(c, "from"), to: readMoment(c, "to") };
}

export function readMoment(c: HttpContext, name: string): Date | undefined {
  const text = c.req.query(name);
  if (text === undefined) return undefined;
  const isUnix = /^\d{1,12}$/.test(text);
  // A time without an offset would be read in the time zone of this machine.
  const moment = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
  const date = new Date(isUnix ? Number(text) * 1000 : moment);
  if (isUnix ? isStorableDate(date) : isMoment(moment)) return date;
  throw new ApiError(
    "invalid_value",
    `${name} must be a date such as 2026-01-31T00:00:00Z, with an offset, or Unix seconds.`,
    { param: name },
  );
}

/** Sends a statement as a file, page by page. */
export function sendStatement({ sql }: Database, query: ExportQuery): Response {
  const lines = ReadableStream.from(exportCsv(sql, query));
  return new Response(lines.pipeThrough(new TextEncoderStream()), {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="statement.csv"',
    },
  });
}
