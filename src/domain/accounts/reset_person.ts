import type { Change } from "../../platform/cluster/change.ts";
import type { Queries } from "../../platform/database/database.ts";

/** What a reset removed from an account. */
export interface RemovedAccess {
  /** Providers through which one could sign in. */
  readonly identities: readonly string[];
  readonly api_keys: readonly { readonly id: string; readonly name: string }[];
  readonly webhook_endpoints: number;
}

/**
 * Sets a new password, ends all sessions, and marks the email as verified: the operator who
 * resets it gives the password to the owner of the address. Before that, any person could have typed the
 * address in. So if it was not verified before, every other way into the account goes too: linked
 * identities, API keys (refused on every node before this returns) and what `removeReceivers` removes.
 */
export async function resetPerson(
  { sql, notify }: Change,
  id: string,
  passwordHash: string,
  removeReceivers: (sql: Queries, account: string) => Promise<number>,
): Promise<RemovedAccess> {
  const [before] = await sql<[{ account_id: string; is_verified: boolean }?]>`
    select account_id, email_verified_at is not null as is_verified
      from person where id = ${id} for update`;
  const nothing: RemovedAccess = { identities: [], api_keys: [], webhook_endpoints: 0 };
  if (before === undefined) return nothing;
  await sql`
    update person
       set password_hash = ${passwordHash}, session_epoch = session_epoch + 1, device_secret = default,
           email_verified_at = coalesce(email_verified_at, now())
     where id = ${id}`;
  if (before.is_verified) return nothing;
  const removed = await removeUnconfirmed(sql, id, before.account_id, removeReceivers);
  await notify("account", before.account_id);
  return removed;
}

async function removeUnconfirmed(
  sql: Queries,
  person: string,
  account: string,
  removeReceivers: (sql: Queries, account: string) => Promise<number>,
): Promise<RemovedAccess> {
  const identities = await sql<{ provider: string }[]>`
    delete from person_identity where person_id = ${person} returning provider`;
  const keys = await sql<{ id: string; name: string }[]>`
    update api_key set revoked_at = now()
     where account_id = ${account} and revoked_at is null
    returning id, name`;
  return {
    identities: identities.map(({ provider }) => provider).sort(),
    api_keys: keys.map(({ id, name }) => ({ id, name })),
    webhook_endpoints: await removeReceivers(sql, account),
  };
}
