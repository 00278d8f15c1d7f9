import { timeOfId } from "../../lib/ids.ts";
import { toUnixSeconds } from "../../lib/unix_seconds.ts";
import type { Queries } from "../../platform/database/database.ts";
import type { Actor, AuditAction } from "./audit.ts";

export interface AuditEntry {
  id: string;
  object: "audit_entry";
  created: number;
  /** The name is null for a person who was deleted. */
  actor: Pick<Actor, "kind" | "id" | "name">;
  via: Actor["via"];
  action: AuditAction;
  account: string | null;
  subject: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  request_id: string;
}

export interface AuditQuery {
  limit: number;
  after?: string | undefined;
  order: "asc" | "desc";
  account?: string | undefined;
  /** Id of an admin token or a person, or `root`. */
  actor?: string | undefined;
  action?: AuditAction | undefined;
  subject?: string | undefined;
  request_id?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

interface Row {
  id: string;
  created_at: Date;
  actor_kind: Actor["kind"];
  actor_id: string | null;
  actor_name: string | null;
  via: Actor["via"];
  action: AuditAction;
  account_id: string | null;
  subject: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  request_id: string;
}

/** A page of the audit log. */
export async function listAudit(
  sql: Queries,
  query: AuditQuery,
): Promise<{ data: AuditEntry[]; hasMore: boolean }> {
  const { limit, after, order, actor } = query;
  const isAscending = order === "asc";
  const equals = (column: string, value: string | undefined) =>
    value === undefined ? sql`` : sql`and e.${sql(column)} = ${value}`;
  const last = after === undefined ? null : new Date(timeOfId(after) ?? 0);
  const rows = await sql<Row[]>`
    select e.*, coalesce(e.actor_name, p.email) as actor_name
      from audit_entry e left join person p on p.id = e.actor_id
     where true
       ${equals("account_id", query.account)}
       ${equals("action", query.action)}
       ${equals("subject", query.subject)}
       ${equals("request_id", query.request_id)}
       ${actor === "root" ? sql`and actor_kind = 'root'` : equals("actor_id", actor)}
       ${query.from === undefined ? sql`` : sql`and e.created_at >= ${query.from}`}
       ${query.to === undefined ? sql`` : sql`and e.created_at < ${query.to}`}
       ${
    after === undefined
      ? sql``
      : isAscending
      ? sql`and (e.created_at, e.id) > (${last}, ${after})`
      : sql`and (e.created_at, e.id) < (${last}, ${after})`
  }
     order by e.created_at ${isAscending ? sql`asc` : sql`desc`}, e.id ${
    isAscending ? sql`asc` : sql`desc`
  }
     limit ${limit + 1}`;
  return { data: rows.slice(0, limit).map(toAuditEntry), hasMore: rows.length > limit };
}

function toAuditEntry(row: Row): AuditEntry {
  return {
    id: row.id,
    object: "audit_entry",
    created: toUnixSeconds(row.created_at),
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
    via: row.via,
    action: row.action,
    account: row.account_id,
    subject: row.subject,
    before: row.before,
    after: row.after,
    request_id: row.request_id,
  };
}
