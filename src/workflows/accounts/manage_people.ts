import { deletePerson } from "../../domain/accounts/delete_person.ts";
import { type Person, setOperator } from "../../domain/accounts/people.ts";
import { type RemovedAccess, resetPerson } from "../../domain/accounts/reset_person.ts";
import type { AuditedChange } from "../../domain/audit/audit.ts";
import { expireRows } from "../../domain/files/rows.ts";
import { removeEndpointsOf } from "../../domain/webhooks/endpoints.ts";
import { requestCancelAll } from "../tasks/cancel_task.ts";

/** Grants or takes the operator role. */
export async function setOperatorRole(
  { sql, audit }: AuditedChange,
  { email, isOperator: wasOperator }: Person,
  operator: boolean,
): Promise<Person> {
  const person = await setOperator(sql, email, operator);
  await audit({
    action: "person.update",
    account: person.account,
    subject: person.id,
    before: { operator: wasOperator },
    after: { operator },
  });
  return person;
}

/** Sets a new password and ends all sessions. Returns what was removed from the account. */
export async function resetAccess(
  change: AuditedChange,
  { id, account }: Person,
  passwordHash: string,
): Promise<RemovedAccess> {
  const removed = await resetPerson(change, id, passwordHash, removeEndpointsOf);
  await change.audit({
    action: "password.reset",
    account,
    subject: id,
    before: { removed },
  });
  return removed;
}

/**
 * Deletes a person with their keys, files, running tasks and webhook endpoints. Returns the tasks whose cancellation
 * must be told to the queue. Their sessions end with them.
 */
export async function removePerson(change: AuditedChange, person: Person): Promise<string[]> {
  const { sql, audit } = change;
  const { account, id } = person;
  await deletePerson(change, person);
  await expireRows(sql, account);
  await removeEndpointsOf(sql, account);
  const cancelled = await requestCancelAll(sql, account);
  await audit({ action: "account.delete", account, subject: id });
  return cancelled;
}
