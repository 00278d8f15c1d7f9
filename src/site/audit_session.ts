import type { Person } from "../domain/accounts/people.ts";
import { writeAudit } from "../domain/audit/audit.ts";
import { memberOf, newMemberOf } from "./actor.ts";
import type { SiteContext, SiteDeps } from "./context.ts";

/** Notes that a person signed in or out. Sessions may be in another store, so it is no part of a transaction. */
export async function auditSession(
  c: SiteContext,
  { database }: Pick<SiteDeps, "database">,
  action: "session.start" | "session.end",
  person?: Person,
): Promise<void> {
  const actor = person === undefined ? memberOf(c) : newMemberOf(c, person);
  const { id, account } = person ?? c.var.signedIn!.person;
  await writeAudit(database.sql, actor, { action, account, subject: id });
}
