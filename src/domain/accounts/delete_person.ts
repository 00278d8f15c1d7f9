import type { Change } from "../../platform/cluster/change.ts";
import type { Person } from "./people.ts";

/**
 * Deletes a person: name, email and password are removed, the keys are revoked on every node. The account stays, closed
 * and without a name, because the ledger refers to it.
 */
export async function deletePerson({ sql, notify }: Change, person: Person): Promise<void> {
  await sql`delete from person where id = ${person.id}`;
  await sql`
    update account set name = 'deleted', email = null, closed_at = coalesce(closed_at, now())
     where id = ${person.account}`;
  await sql`
    update api_key set revoked_at = now()
     where account_id = ${person.account} and revoked_at is null`;
  await notify("account_stopped", person.account);
}
