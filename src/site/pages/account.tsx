import type { PasswordCaller } from "../../domain/accounts/fair_queue.ts";
import { identitiesOf } from "../../domain/accounts/identities.ts";
import { findPasswordHash, renamePerson, setPassword } from "../../domain/accounts/people.ts";
import { passwordFault } from "../../domain/accounts/passwords.ts";
import { signedInOf, type SiteContext, type SiteDeps, type SiteRouter } from "../context.ts";
import { deleteAccount } from "../delete_account.ts";
import { clientAddress, readSiteForm } from "../form.ts";
import { seeOther, seeOtherWith } from "../respond.ts";
import { forgetSession, signIn } from "../visitor.ts";
import { accountPage } from "./account_page.tsx";

const TRIES = { burst: 8, everySeconds: 60 };
/** Somebody without a password proves who they are by having just signed in. */
const JUST_NOW_MS = 10 * 60_000;

/** What went wrong with a form of this page, by the field it is about. */
export type AccountFaults = Partial<
  Record<"name" | "present" | "password" | "confirm", string | null>
>;

/** The person's own page: name, password, sessions, other ways to sign in, and the way out. */
export function mountAccount(site: SiteRouter, deps: SiteDeps): void {
  site.get("/account", (c) => show(c, deps));
  site.post("/account/name", async (c) => {
    const { name = "" } = await readSiteForm(c);
    const text = name.trim();
    if (text === "" || text.length > 200) {
      return show(c, deps, { name: "Use 1 to 200 characters." });
    }
    await renamePerson(deps.database.sql, signedInOf(c).person.id, text);
    return seeOtherWith(c, "/account", "good", "Your name is saved.");
  });
  site.post("/account/password", (c) => changePassword(c, deps));
  site.post("/account/sessions/end", async (c) => {
    const { person, session } = signedInOf(c);
    const { session: hash } = await readSiteForm(c);
    const own = (await deps.sessions.list(person.id)).find((each) => each.hash === hash);
    if (own !== undefined) await deps.sessions.end(own);
    if (own?.hash === session.hash) return forgetSession(c, seeOther("/sign-in"));
    return seeOtherWith(c, "/account", "good", "That browser is signed out.");
  });
  site.post("/account/sessions/end-all", async (c) => {
    await deps.sessions.endAll(signedInOf(c).person.id);
    return forgetSession(c, seeOtherWith(c, "/sign-in", "info", "You are signed out everywhere."));
  });
  site.post("/account/delete", (c) => leave(c, deps));
}

async function show(
  c: SiteContext,
  deps: SiteDeps,
  faults: AccountFaults = {},
): Promise<Response> {
  const { person } = signedInOf(c);
  return accountPage(c, {
    sessions: await deps.sessions.list(person.id),
    identities: await identitiesOf(deps.database.sql, person.id),
    faults,
    now: Date.now(),
  });
}

async function changePassword(c: SiteContext, deps: SiteDeps): Promise<Response> {
  const { person } = signedInOf(c);
  const { present = "", password = "" } = await readSiteForm(c);
  if (person.hasPassword && !await isTheirs(c, deps, present)) {
    return await show(c, deps, { present: "This is not your present password." });
  }
  if (!person.hasPassword && !hasJustSignedIn(c)) return await signInAgain(c);
  const fault = passwordFault(password, person.email);
  if (fault !== null) return await show(c, deps, { password: fault });
  await setPassword(deps.database.sql, person.id, await deps.passwords.hash(password, asker(c)));
  // Whoever knew the old password is out; this browser goes on with a session of its own.
  await deps.sessions.endAll(person.id);
  const notice = seeOtherWith(
    c,
    "/account",
    "good",
    "Your password is set. Other browsers are signed out.",
  );
  const response = await signIn(c, deps, person, "/account");
  for (const cookie of notice.headers.getSetCookie()) response.headers.append("set-cookie", cookie);
  return response;
}

async function leave(c: SiteContext, deps: SiteDeps): Promise<Response> {
  const { person } = signedInOf(c);
  const { confirm = "" } = await readSiteForm(c);
  if (person.hasPassword) {
    if (!await isTheirs(c, deps, confirm)) {
      return await show(c, deps, { confirm: "This is not your password." });
    }
  } else {
    if (!hasJustSignedIn(c)) return await signInAgain(c);
    if (confirm.trim().toLowerCase() !== person.email) {
      return await show(c, deps, { confirm: "Type your e-mail address." });
    }
  }
  await deleteAccount(deps, person);
  return forgetSession(c, seeOtherWith(c, "/", "info", "Your account is deleted."));
}

async function isTheirs(c: SiteContext, deps: SiteDeps, password: string): Promise<boolean> {
  const { person } = signedInOf(c);
  await deps.throttle.take([[`confirm:${person.id}:${clientAddress(c)}`, TRIES]]);
  const hash = await findPasswordHash(deps.database.sql, person.id);
  return await deps.passwords.fits(password, hash, asker(c));
}

/** Whoever is signed in does not wait for those who are not. */
function asker(c: SiteContext): PasswordCaller {
  return { client: signedInOf(c).person.id, isKnown: true };
}

function hasJustSignedIn(c: SiteContext): boolean {
  return Date.now() - signedInOf(c).session.createdAt < JUST_NOW_MS;
}

function signInAgain(c: SiteContext): Response {
  return seeOtherWith(c, "/account", "warn", "Sign out and in again first: it has been a while.");
}
