import { AUDIT_ACTIONS } from "../../domain/audit/audit.ts";
import { listAudit } from "../../domain/audit/list_audit.ts";
import { readPeriod } from "../endpoints/usage.ts";
import type { Endpoint } from "../exchange.ts";
import { readPage, sendJsonPage } from "../paging.ts";
import { readChoice } from "../read_choice.ts";
import type { RouteDeps } from "../routes/route.ts";

/** GET /admin/v1/audit */
export function listAuditEndpoint({ database }: RouteDeps): Endpoint {
  return async function listAuditEndpoint(c) {
    const { account, actor, subject, request_id } = c.req.query();
    const { data, hasMore } = await listAudit(database.sql, {
      ...readPage(c),
      ...readPeriod(c),
      ...{ account, actor, subject, request_id },
      action: readChoice(c, "action", AUDIT_ACTIONS),
    });
    return sendJsonPage(data, hasMore);
  };
}
