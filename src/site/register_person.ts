import type { Person } from "../domain/accounts/people.ts";
import { claimWelcomeCredit } from "../domain/accounts/welcome_credit.ts";
import { writeAudit } from "../domain/audit/audit.ts";
import { addCredit } from "../domain/ledger/credit.ts";
import type { Queries } from "../platform/database/database.ts";
import { commitChange } from "../platform/cluster/change.ts";
import { newMemberOf } from "./actor.ts";
import type { SiteContext, SiteDeps } from "./context.ts";
import { networkOf } from "./form.ts";
import { addFlash } from "./respond.ts";
import { signIn } from "./visitor.ts";

/** A new person. `isCreditDenied`: a welcome credit is configured, but this person does not get it. */
export interface Registration {
  readonly person: Person;
  readonly isCreditDenied: boolean;
}

/** Creates a person and books the configured welcome credit, in one transaction. */
export async function registerWithCredit(
  c: SiteContext,
  deps: SiteDeps,
  create: (sql: Queries) => Promise<Person | null>,
): Promise<Registration | null> {
  const { welcomeCredit } = c.env.config.site;
  const registration = await commitChange(deps, async ({ sql }) => {
    const person = await create(sql);
    if (person === null) return null;
    const { account, id: subject } = person;
    const note = { action: "person.register", account, subject } as const;
    await writeAudit(sql, newMemberOf(c, person), note);
    if (welcomeCredit === null) return { person, isCreditDenied: false };
    if (!await claimWelcomeCredit(sql, { email: person.email, network: networkOf(c) })) {
      return { person, isCreditDenied: true };
    }
    await addCredit(sql, {
      account: person.account,
      kind: "gift",
      amount: welcomeCredit,
      reference: "welcome",
    });
    return { person, isCreditDenied: false };
  });
  if (registration?.isCreditDenied) {
    deps.log.info("welcome credit not granted", {
      request_id: c.env.requestId,
      account: registration.person.account,
    });
  }
  return registration;
}

/** Signs a new person in, with a message where the welcome credit was not granted. */
export async function signInNewPerson(
  c: SiteContext,
  deps: SiteDeps,
  { person, isCreditDenied }: Registration,
  returnTo: string,
): Promise<Response> {
  const response = await signIn(c, deps, person, returnTo);
  if (!isCreditDenied) return response;
  return addFlash(
    c,
    response,
    "info",
    "Your account is ready, without welcome credit: it is limited to one per email and a few new accounts per network per day.",
  );
}
