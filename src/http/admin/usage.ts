import { USAGE_GROUPS } from "../../domain/ledger/usage_page.ts";
import { UsageReports } from "../../domain/ledger/usage_report.ts";
import { readPeriod } from "../endpoints/usage.ts";
import type { Endpoint } from "../exchange.ts";
import type { RouteDeps } from "../routes/route.ts";
import { OPERATOR_COLUMNS, readUsageQuery, sendUsageReport } from "../usage_query.ts";

/** GET /admin/v1/usage: usage of all accounts by group, with what upstreams charge. */
export function reportAllUsage({ database }: RouteDeps): Endpoint {
  const reports = new UsageReports(database);
  return async function reportAllUsage(c) {
    const groupBy = c.req.query("group_by") ?? "account";
    const query = { ...readUsageQuery(c, groupBy, USAGE_GROUPS), ...readPeriod(c) };
    return sendUsageReport(c, query.groupBy, await reports.read(query), OPERATOR_COLUMNS);
  };
}
