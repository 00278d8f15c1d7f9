import { REQUESTS } from "../../../schemas/requests.ts";
import {
  createCredit,
  retrieveStatement,
  updatePlan,
  verifyLedgerEndpoint,
} from "../admin/money.ts";
import { listMarginsEndpoint } from "../admin/margins.ts";
import { MARGIN_GROUPS } from "../../domain/ledger/margins.ts";
import { requestBody } from "../request_body.ts";
import { ACCOUNT_ID } from "./admin_accounts.ts";
import { choice, PERIOD, query } from "./parameters.ts";
import { content, fixedRoute, json, type RouteArea } from "./route.ts";
import { SAMPLE } from "./sample_ids.ts";

const AT_ACCOUNT = { path: { id: SAMPLE.account } };

export const adminMoneyRoutes: RouteArea = {
  title: "Credit, plans and the ledger",
  routes: [
    fixedRoute({
      method: "POST",
      path: "/admin/v1/accounts/{id}/credits",
      auth: "admin_token",
      scope: "money",
      summary: "Add credit to an account",
      parameters: [ACCOUNT_ID],
      request: requestBody(REQUESTS.admin_credits),
      responses: {
        201: json("Credit", "The credit was booked."),
        200: json(
          "Credit",
          "A credit with this reference was booked before; nothing was booked now.",
        ),
      },
      example: { ...AT_ACCOUNT, body: { kind: "cash", amount: "12.50", reference: "invoice-17" } },
      handler: createCredit,
    }),
    fixedRoute({
      method: "PUT",
      path: "/admin/v1/accounts/{id}/plan",
      auth: "admin_token",
      scope: "money",
      summary: "Change the plan of an account and grant its quotas",
      parameters: [ACCOUNT_ID],
      request: requestBody(REQUESTS.admin_plan),
      responses: { 200: json("Account", "The account, with its balance.") },
      example: { ...AT_ACCOUNT, body: { plan: "free" } },
      handler: updatePlan,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/accounts/{id}/statement",
      auth: "admin_token",
      scope: "read",
      summary: "Download the statement of an account",
      parameters: [ACCOUNT_ID, ...PERIOD],
      responses: { 200: content("text/csv", "Every transfer of the period.") },
      example: { ...AT_ACCOUNT, query: { from: "2026-01-01T00:00:00Z" } },
      handler: retrieveStatement,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/ledger/verify",
      auth: "admin_token",
      scope: "read",
      summary: "Check the invariants of the ledger",
      parameters: [
        choice("archives", "`true`: also read the files of archived months.", ["true", "false"]),
      ],
      responses: { 200: json("Verification", "The result of each check.") },
      example: {},
      handler: verifyLedgerEndpoint,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/margins",
      auth: "admin_token",
      scope: "read",
      summary: "Compare revenue with what upstreams charge",
      description:
        "A cost that is not known is null, and `margin` leaves out what it is for. The parts of a drama count for the " +
        "providers that made them. With `Accept: text/csv` or `format=csv` the response is CSV.",
      parameters: [
        query(
          "group_by",
          `Names separated by commas, out of ${MARGIN_GROUPS.join(", ")}. ` +
            "By default month, model, provider, account and plan.",
        ),
        query("month", "Only this month, such as 2026-01, in UTC."),
        query("from", "From this day on, in UTC. By default the last twelve months."),
        query("to", "Before this day, in UTC."),
        query("model", "Only requests to this model."),
        query("provider", "Only what this provider made."),
        query("account", "Only requests of this account."),
        query("plan", "Only requests of accounts that were on this plan."),
        choice("format", "`csv`: respond with CSV.", ["json", "csv"]),
      ],
      responses: {
        200: {
          description: "A line for each group.",
          content: { "application/json": "Margins", "text/csv": null },
        },
      },
      example: { query: { group_by: "month,model" } },
      handler: listMarginsEndpoint,
    }),
  ],
};
