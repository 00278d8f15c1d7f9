import type { Person } from "../domain/accounts/people.ts";
import { claimWelcomeCredit } from "../domain/accounts/welcome_credit.ts";
import { addCredit } from "../domain/ledger/credit.ts";
import type { Queries } from "../platform/database/database.ts";
import type { SiteContext, SiteDeps } from "./context.ts";
import { networkOf } from "./form.ts";
import { addFlash } from "./respond.ts";
import { signIn } from "./visitor.ts";

/** Somebody new. `isWithheld`: a welcome credit is declared, and they do not get it. */
export interface Registered {
  readonly person: Person;
  readonly isWithheld: boolean;
}

/** Makes a person and books the declared welcome with them: one transaction, so that nobody gets half. */
export async function registerWithCredit(
  c: SiteContext,
  { database, log }: SiteDeps,
  make: (sql: Queries) => Promise<Person | null>,
): Promise<Registered | null> {
  const { welcomeCredit } = c.env.config.site;
  const welcomed = await database.sql.begin(async (sql) => {
    const person = await make(sql);
    if (person === null) return null;
    if (welcomeCredit === null) return { person, isWithheld: false };
    if (!await claimWelcomeCredit(sql, { email: person.email, network: networkOf(c) })) {
      return { person, isWithheld: true };
    }
    await addCredit(sql, {
      account: person.account,
      kind: "gift",
      amount: welcomeCredit,
      reference: "welcome",
    });
    return { person, isWithheld: false };
  });
  if (welcomed?.isWithheld) {
    log.info("welcome credit withheld", {
      request_id: c.env.requestId,
      account: welcomed.person.account,
    });
  }
  return welcomed;
}

/** Signs somebody new in, and says so where they might look for a credit in vain. */
export async function signInNew(
  c: SiteContext,
  deps: SiteDeps,
  { person, isWithheld }: Registered,
  returnTo: string,
): Promise<Response> {
  const response = await signIn(c, deps, person, returnTo);
  if (!isWithheld) return response;
  return addFlash(
    c,
    response,
    "info",
    "Your account is ready. It has no welcome credit: that is given once per e-mail address, and to a few new accounts per network and day.",
  );
}
