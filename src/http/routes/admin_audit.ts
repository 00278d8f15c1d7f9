import { AUDIT_ACTIONS } from "../../domain/audit/audit.ts";
import { listAuditEndpoint } from "../admin/audit.ts";
import { choice, PAGE, PERIOD, query } from "./parameters.ts";
import { fixedRoute, json, type RouteArea } from "./route.ts";
import { SAMPLE } from "./sample_ids.ts";

export const adminAuditRoutes: RouteArea = {
  title: "Audit log",
  routes: [
    fixedRoute({
      method: "GET",
      path: "/admin/v1/audit",
      auth: "admin_token",
      scope: "read",
      summary: "List what operators and members did",
      description: "Each entry was written in the transaction of its action, and is never changed.",
      parameters: [
        ...PAGE,
        ...PERIOD,
        query("account", "Only actions that concern this account."),
        query(
          "actor",
          "Only actions of this admin token or person, by id; `root`: the root token.",
        ),
        choice("action", "Only actions of this kind.", AUDIT_ACTIONS),
        query("subject", "Only actions on this key, token, task or other thing, by its id."),
        query(
          "request_id",
          "Only what this request did: the header `x-request-id` of its response.",
        ),
      ],
      responses: { 200: json("AuditEntryList", "The entries, newest first.") },
      example: { query: { account: SAMPLE.account, action: "account.credit" } },
      handler: listAuditEndpoint,
    }),
  ],
};
