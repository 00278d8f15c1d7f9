import type { PasswordCaller } from "../../domain/accounts/fair_queue.ts";
import { identitiesOf } from "../../domain/accounts/identities.ts";
import { findPasswordHash, renamePerson, setPassword } from "../../domain/accounts/people.ts";
import { passwordFault } from "../../domain/accounts/passwords.ts";
import { audited } from "../../domain/audit/audit.ts";
import { memberOf } from "../actor.ts";
import { auditSession } from "../audit_session.ts";
import { signedInOf, type SiteContext, type SiteDeps, type SiteRouter } from "../context.ts";
import { deleteAccount } from "../delete_account.ts";
import { clientAddress, readSiteForm } from "../form.ts";
import { toFormError } from "../form_error.ts";
import { accountForm } from "../request_forms.ts";
import { seeOther, seeOtherWith } from "../respond.ts";
import { clearSessionCookie, signIn } from "../visitor.ts";
import { accountPage } from "./account_page.tsx";

const TRIES = { burst: 8, everySeconds: 60 };
/** A person without a password confirms by having signed in within this time. */
const RECENT_SIGN_IN_MS = 10 * 60_000;

/** Errors of this page's forms, by field. */
export type AccountErrors = Partial<
  Record<"name" | "current" | "password" | "confirm", string | null>
>;

/** Account settings: name, password, sign-in methods, sessions, deletion. */
export function mountAccount(site: SiteRouter, deps: SiteDeps): void {
  site.get("/account", (c) => sendAccountPage(c, deps));
  site.post("/account/name", async (c) => {
    try {
      const { name } = accountForm.read(await readSiteForm(c));
      const { person } = signedInOf(c);
      await audited(deps, memberOf(c), async ({ sql, audit }) => {
        await renamePerson(sql, person.id, name);
        const { account } = person;
        const [before, after] = [{ name: person.name }, { name }];
        await audit({ action: "account.rename", account, subject: account, before, after });
      });
      return seeOtherWith(c, "/account", "good", "Name saved.");
    } catch (error) {
      return sendAccountPage(c, deps, { name: toFormError(error, { name: "Name" }).message });
    }
  });
  site.post("/account/password", (c) => changePassword(c, deps));
  site.post("/account/sessions/end", async (c) => {
    const { person, session } = signedInOf(c);
    const { session: hash } = await readSiteForm(c);
    const own = (await deps.sessions.list(person.id)).find((each) => each.hash === hash);
    if (own !== undefined) {
      await deps.sessions.end(own);
      await auditSession(c, deps, "session.end");
    }
    if (own?.hash === session.hash) return clearSessionCookie(c, seeOther("/sign-in"));
    return seeOtherWith(c, "/account", "good", "Browser signed out.");
  });
  site.post("/account/sessions/end-all", async (c) => {
    await deps.sessions.endAll(signedInOf(c).person.id);
    await auditSession(c, deps, "session.end");
    return clearSessionCookie(c, seeOtherWith(c, "/sign-in", "info", "Signed out everywhere."));
  });
  site.post("/account/delete", (c) => deleteOwnAccount(c, deps));
}

async function sendAccountPage(
  c: SiteContext,
  deps: SiteDeps,
  errors: AccountErrors = {},
): Promise<Response> {
  const { person } = signedInOf(c);
  return accountPage(c, {
    sessions: await deps.sessions.list(person.id),
    identities: await identitiesOf(deps.database.sql, person.id),
    errors,
  });
}

async function changePassword(c: SiteContext, deps: SiteDeps): Promise<Response> {
  const { person } = signedInOf(c);
  const { current = "", password = "" } = await readSiteForm(c);
  if (person.hasPassword && !await isOwnPassword(c, deps, current)) {
    return await sendAccountPage(c, deps, { current: "Incorrect password." });
  }
  if (!person.hasPassword && !hasSignedInRecently(c)) return await signInAgain(c);
  const error = passwordFault(password, person.email);
  if (error !== null) return await sendAccountPage(c, deps, { password: error });
  const hash = await deps.passwords.hash(password, passwordCaller(c));
  await audited(deps, memberOf(c), async ({ sql, audit }) => {
    await setPassword(sql, person.id, hash);
    await audit({ action: "password.change", account: person.account, subject: person.id });
  });
  // All sessions end, in case another person knew the old password; this browser gets a new one.
  await deps.sessions.endAll(person.id);
  const notice = seeOtherWith(
    c,
    "/account",
    "good",
    "Password updated. Other browsers were signed out.",
  );
  const response = await signIn(c, deps, person, "/account");
  for (const cookie of notice.headers.getSetCookie()) response.headers.append("set-cookie", cookie);
  return response;
}

async function deleteOwnAccount(c: SiteContext, deps: SiteDeps): Promise<Response> {
  const { person } = signedInOf(c);
  const { confirm = "" } = await readSiteForm(c);
  if (person.hasPassword) {
    if (!await isOwnPassword(c, deps, confirm)) {
      return await sendAccountPage(c, deps, { confirm: "Incorrect password." });
    }
  } else {
    if (!hasSignedInRecently(c)) return await signInAgain(c);
    if (confirm.trim().toLowerCase() !== person.email) {
      return await sendAccountPage(c, deps, { confirm: "Enter your email." });
    }
  }
  await deleteAccount(c, deps, person);
  return clearSessionCookie(c, seeOtherWith(c, "/", "info", "Account deleted."));
}

async function isOwnPassword(c: SiteContext, deps: SiteDeps, password: string): Promise<boolean> {
  const { person } = signedInOf(c);
  await deps.throttle.take([[`confirm:${person.id}:${clientAddress(c)}`, TRIES]]);
  const hash = await findPasswordHash(deps.database.sql, person.id);
  return await deps.passwords.verify(password, hash, passwordCaller(c));
}

/** Signed-in people do not queue behind anonymous sign-in attempts. */
function passwordCaller(c: SiteContext): PasswordCaller {
  return { client: signedInOf(c).person.id, isKnown: true };
}

function hasSignedInRecently(c: SiteContext): boolean {
  return Date.now() - signedInOf(c).session.createdAt < RECENT_SIGN_IN_MS;
}

function signInAgain(c: SiteContext): Response {
  return seeOtherWith(c, "/account", "warn", "For your security, sign out and in again first.");
}
