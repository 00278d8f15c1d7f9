import { newId, timeOfId } from "../../lib/ids.ts";
import { type Change, commitChange } from "../../platform/cluster/change.ts";
import type { Cluster } from "../../platform/cluster/cluster.ts";
import type { Database, Queries } from "../../platform/database/database.ts";

/** Everything that operators and members do, as the audit log calls it. */
export const AUDIT_ACTIONS = [
  "account.create",
  "account.update",
  "account.correct",
  "account.credit",
  "account.delete",
  "account.rename",
  "admin_token.create",
  "admin_token.revoke",
  "backup.create",
  "config.reload",
  "identity.link",
  "identity.unlink",
  "key.create",
  "key.revoke",
  "key.update",
  "password.change",
  "password.reset",
  "person.register",
  "person.update",
  "provider.test",
  "secrets.rotate",
  "session.end",
  "session.start",
  "storage.sweep",
  "task.cancel",
  "task.replay",
  "webhook.create",
  "webhook.delete",
  "webhook.disable",
  "webhook.enable",
  "webhook.redeliver",
  "webhook.rotate_secret",
  "webhook.test",
  "webhook.update",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who acts, and by which way. */
export interface Actor {
  readonly kind: "root" | "admin_token" | "operator" | "member";
  /** The admin token or the person; null for the root token. */
  readonly id: string | null;
  /** Of a token; null for a person, whose address is looked up when the log is read: people can be deleted. */
  readonly name: string | null;
  readonly via: "api" | "cli" | "console";
  readonly requestId: string;
}

/** What an actor did. `before` and `after` are what changed; null where it was not there, or is gone. */
export interface AuditNote {
  readonly action: AuditAction;
  readonly account?: string | null;
  readonly subject: string | null;
  readonly before?: object | null;
  readonly after?: object | null;
}

export interface AuditedChange extends Change {
  /** Writes an entry of the audit log, in the transaction of the change. */
  audit(note: AuditNote): Promise<void>;
}

export interface AuditDeps {
  database: Database;
  cluster: Cluster;
}

/** Runs a change of an actor: what it changes and what the audit log says about it are one transaction. */
export function audited<T>(
  deps: AuditDeps,
  actor: Actor,
  run: (change: AuditedChange) => Promise<T>,
): Promise<T> {
  return commitChange(
    deps,
    (change) => run({ ...change, audit: (note) => writeAudit(change.sql, actor, note) }),
  );
}

/** Fields that are never written, whatever object they are in. */
const SECRET_FIELDS = new Set(["key", "token", "password", "secret"]);

/** Writes an entry; by itself, for an action that has no transaction. */
export async function writeAudit(sql: Queries, actor: Actor, note: AuditNote): Promise<void> {
  const id = newId("aud");
  const text = (value: object | null | undefined) =>
    value === null || value === undefined
      ? null
      : JSON.stringify(value, (name, inner) => SECRET_FIELDS.has(name) ? undefined : inner);
  await sql`
    insert into audit_entry (id, created_at, actor_kind, actor_id, actor_name, via, action, account_id, subject,
                             before, after, request_id)
    values (${id}, ${new Date(
    timeOfId(id)!,
  )}, ${actor.kind}, ${actor.id}, ${actor.name}, ${actor.via},
            ${note.action}, ${note.account ?? null}, ${note.subject}, ${
    text(note.before)
  }::text::json,
            ${text(note.after)}::text::json, ${actor.requestId})`;
}

/** The fields in which two states of one thing differ, of each state. */
export function differenceOf<T extends object>(
  before: T,
  after: T,
): { before: Partial<T>; after: Partial<T> } {
  const changed = (Object.keys(after) as (keyof T)[]).filter((name) =>
    JSON.stringify(before[name]) !== JSON.stringify(after[name])
  );
  const pick = (state: T) =>
    Object.fromEntries(changed.map((name) => [name, state[name]])) as Partial<T>;
  return { before: pick(before), after: pick(after) };
}

/** The configuration file was loaded again. */
export function reloadNote(before: string, after: string): AuditNote {
  return {
    action: "config.reload",
    subject: null,
    before: { version: before },
    after: { version: after },
  };
}
