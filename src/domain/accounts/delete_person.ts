import type { Cluster } from "../../platform/cluster/cluster.ts";
import type { Database, Queries } from "../../platform/database/database.ts";
import type { Person } from "./people.ts";

/**
 * Deletes a person: name, email and password are removed, the keys are revoked on every node before
 * this returns. The account stays, closed and without a name, because the ledger refers to it.
 * `endWork` runs in the same transaction.
 */
export async function deletePerson(
  database: Database,
  cluster: Cluster,
  person: Person,
  endWork: (sql: Queries) => Promise<void>,
): Promise<void> {
  const mark = await database.sql.begin(async (sql) => {
    await sql`delete from person where id = ${person.id}`;
    await sql`
      update account set name = 'deleted', email = null, closed_at = coalesce(closed_at, now())
       where id = ${person.account}`;
    await sql`
      update api_key set revoked_at = now()
       where account_id = ${person.account} and revoked_at is null`;
    await endWork(sql);
    return await cluster.record(sql, "account", person.account);
  });
  await cluster.awaitPeers(mark);
}
