import type { Person } from "../domain/accounts/people.ts";
import { audited } from "../domain/audit/audit.ts";
import { removePerson } from "../workflows/accounts/manage_people.ts";
import { TASK } from "../workflows/tasks/task.ts";
import { memberOf } from "./actor.ts";
import type { SiteContext, SiteDeps } from "./context.ts";

/** Deletes the signed-in person with their keys, files, running tasks, webhook endpoints and sessions. */
export async function deleteAccount(
  c: SiteContext,
  deps: SiteDeps,
  person: Person,
): Promise<void> {
  const cancelled = await audited(deps, memberOf(c), (change) => removePerson(change, person));
  for (const id of cancelled) deps.tasks.queue.notify({ kind: TASK, id });
  await deps.sessions.endAll(person.id);
}
