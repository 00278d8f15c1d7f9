import { deletePerson } from "../domain/accounts/delete_person.ts";
import type { Person } from "../domain/accounts/people.ts";
import { expireRows } from "../domain/files/rows.ts";
import { askToCancelAll } from "../workflows/tasks/cancel_task.ts";
import { TASK } from "../workflows/tasks/task.ts";
import { removeReceivers } from "../domain/webhooks/endpoints.ts";
import type { SiteDeps } from "./context.ts";

/** Deletes a person with their keys, files, running tasks, webhook endpoints and sessions. */
export async function deleteAccount(
  { database, cluster, sessions, tasks }: SiteDeps,
  person: Person,
): Promise<void> {
  let cancelled: readonly string[] = [];
  await deletePerson(database, cluster, person, async (sql) => {
    await expireRows(sql, person.account);
    await removeReceivers(sql, person.account);
    cancelled = await askToCancelAll(sql, person.account);
  });
  for (const id of cancelled) tasks.queue.notify({ kind: TASK, id });
  await sessions.endAll(person.id);
}
