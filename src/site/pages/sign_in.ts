import {
  createPerson,
  findByEmail,
  findPasswordHash,
  type Person,
  readEmail,
} from "../../domain/accounts/people.ts";
import { passwordFault } from "../../domain/accounts/passwords.ts";
import { ApiError } from "../../lib/api_error.ts";
import { auditSession } from "../audit_session.ts";
import type { SiteContext, SiteDeps, SiteRouter } from "../context.ts";
import { clientAddress, readSiteForm } from "../form.ts";
import { toFormError } from "../form_error.ts";
import { accountForm } from "../request_forms.ts";
import { seeOther, seeOtherWith } from "../respond.ts";
import { countSignInAttempt } from "../sign_in_throttle.ts";
import { clearSessionCookie, readReturnTo, startSession } from "../visitor.ts";
import { registerWithCredit, signInNewPerson } from "../register_person.ts";
import { closedPage, registerPage, type SignInForm, signInPage } from "./sign_in_pages.tsx";

const REGISTRATIONS_FROM = { burst: 20, everySeconds: 120 };

const MISSING = "Enter your email and password.";
const INCORRECT = "Incorrect email or password.";

/** Registration, sign-in with email and password, sign-out. */
export function mountSignIn(site: SiteRouter, deps: SiteDeps): void {
  site.get("/sign-in", (c) => {
    const returnTo = readReturnTo(c.req.query("return_to"));
    return c.var.signedIn === null ? signInPage(c, { returnTo }) : seeOther(returnTo);
  });
  site.post("/sign-in", (c) => postSignIn(c, deps));
  site.get("/register", (c) => {
    const returnTo = readReturnTo(c.req.query("return_to"));
    if (c.var.signedIn !== null) return seeOther(returnTo);
    return c.env.config.site.registration ? registerPage(c, { returnTo }) : closedPage(c);
  });
  site.post("/register", (c) => postRegister(c, deps));
  site.get("/sign-out", () => seeOther("/account"));
  site.post("/sign-out", async (c) => {
    if (c.var.signedIn !== null) {
      await deps.sessions.end(c.var.signedIn.session);
      await auditSession(c, deps, "session.end");
    }
    return clearSessionCookie(c, seeOtherWith(c, "/", "info", "Signed out."));
  });
}

async function postSignIn(c: SiteContext, deps: SiteDeps): Promise<Response> {
  const form = await readSiteForm(c);
  const returnTo = readReturnTo(form.return_to);
  const email = readEmail(form.email ?? "");
  const filled = { returnTo, email: form.email ?? "" };
  const { password = "" } = form;
  if (password === "") return signInPage(c, { ...filled, error: MISSING, status: 400 });
  try {
    const response = await signInWithPassword(c, deps, { email, password, returnTo });
    return response ?? signInPage(c, { ...filled, error: INCORRECT, status: 401 });
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== "rate_limited") throw error;
    const page = signInPage(c, { ...filled, error: error.message, status: 429 });
    page.headers.set("retry-after", String(error.retryAfterSeconds ?? 60));
    return page;
  }
}

interface Credentials {
  /** Null where it is no valid email. */
  email: string | null;
  password: string;
  returnTo: string;
}

/** Signs in with a password; null when it is wrong, or no person has the email. */
async function signInWithPassword(
  c: SiteContext,
  deps: SiteDeps,
  { email, password, returnTo }: Credentials,
): Promise<Response | null> {
  const found = email === null ? null : await findByEmail(deps.database.sql, email);
  const { caller, succeeded } = await countSignInAttempt(
    c,
    deps,
    email ?? "",
    found?.person.id ?? null,
  );
  // An unknown email costs the same work, so that response times reveal nothing.
  const isVerified = await deps.passwords.verify(password, found?.passwordHash ?? null, caller);
  const response = found !== null && isVerified
    ? await completeSignIn(c, deps, found, returnTo)
    : null;
  if (response !== null) await succeeded();
  return response;
}

/**
 * Starts the session; null when the password was changed while it was compared. The change ended all sessions
 * of that moment, but not this one, which starts later.
 */
async function completeSignIn(
  c: SiteContext,
  deps: SiteDeps,
  { person, passwordHash }: { person: Person; passwordHash: string | null },
  returnTo: string,
): Promise<Response | null> {
  const { id, response } = await startSession(c, deps, person, returnTo);
  if (await findPasswordHash(deps.database.sql, person.id) === passwordHash) return response;
  const session = await deps.sessions.find(id);
  if (session !== null) await deps.sessions.end(session);
  return null;
}

async function postRegister(c: SiteContext, deps: SiteDeps): Promise<Response> {
  if (!c.env.config.site.registration) return closedPage(c);
  const form = await readSiteForm(c);
  const { password = "" } = form;
  const email = readEmail(form.email ?? "");
  const name = form.name?.trim() || (email?.split("@")[0] ?? "");
  const filled: SignInForm = {
    returnTo: readReturnTo(form.return_to),
    email: form.email ?? "",
    name: form.name ?? "",
  };
  const fieldErrors = {
    email: email === null ? "Enter a valid email." : null,
    name: email === null ? null : nameFault(name),
    password: passwordFault(password, email ?? ""),
  };
  if (email === null || fieldErrors.name !== null || fieldErrors.password !== null) {
    return registerPage(c, { ...filled, fieldErrors, status: 422 });
  }
  await deps.throttle.take([[`register-from:${clientAddress(c)}`, REGISTRATIONS_FROM]]);
  const passwordHash = await deps.passwords.hash(password, { client: clientAddress(c) });
  const registration = await registerWithCredit(
    c,
    deps,
    (sql) => createPerson(sql, { email, name, passwordHash }),
  );
  if (registration === null) {
    return await handleExistingEmail(
      c,
      deps,
      { email, password, returnTo: filled.returnTo },
      filled,
    );
  }
  return await signInNewPerson(c, deps, registration, filled.returnTo);
}

function nameFault(name: string): string | null {
  try {
    accountForm.read({ name });
    return null;
  } catch (error) {
    return toFormError(error, { name: "Name" }).message;
  }
}

/**
 * The email has an account. With the right password its owner is signed in. Any other answer does not reveal
 * that the account exists.
 */
async function handleExistingEmail(
  c: SiteContext,
  deps: SiteDeps,
  credentials: Credentials,
  filled: SignInForm,
): Promise<Response> {
  const response = await signInWithPassword(c, deps, credentials);
  return response ?? registerPage(c, {
    ...filled,
    error: "An account could not be created with these details. If you already have one, sign in.",
    status: 422,
  });
}
