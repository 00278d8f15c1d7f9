import { USAGE_GROUPS } from "../../domain/ledger/usage_page.ts";
import { reportAllUsage } from "../admin/usage.ts";
import { query } from "./parameters.ts";
import { fixedRoute, type RouteArea } from "./route.ts";
import { SAMPLE } from "./sample_ids.ts";
import { usageReportParameters } from "./usage.ts";

export const adminUsageRoutes: RouteArea = {
  title: "Usage of all accounts",
  routes: [
    fixedRoute({
      method: "GET",
      path: "/admin/v1/usage",
      auth: "admin_token",
      scope: "read",
      summary: "Sum up usage of all accounts, with what upstreams charge",
      parameters: [
        ...usageReportParameters(USAGE_GROUPS, "account"),
        query("model", "Only requests to this model."),
        query("account", "Only requests of this account."),
      ],
      responses: {
        200: {
          description: "The groups, and all of them together.",
          content: { "application/json": "OperatorUsageReport", "text/csv": null },
        },
      },
      example: { query: { group_by: "account,day", account: SAMPLE.account } },
      handler: reportAllUsage,
    }),
  ],
};
