import type { Person } from "../accounts/people.ts";
import { credit } from "../ledger/credit.ts";
import type { Queries } from "../store/database.ts";
import type { SiteContext, SiteDeps } from "./context.ts";

/** Makes a person and books the declared welcome with them: one transaction, so that nobody gets half. */
export async function welcome(
  c: SiteContext,
  { database }: SiteDeps,
  make: (sql: Queries) => Promise<Person | null>,
): Promise<Person | null> {
  const { welcomeCredit } = c.env.plan.site;
  return await database.sql.begin(async (sql) => {
    const person = await make(sql);
    if (person !== null && welcomeCredit !== null) {
      await credit(sql, {
        account: person.account,
        kind: "gift",
        amount: welcomeCredit,
        reference: "welcome",
      });
    }
    return person;
  });
}
