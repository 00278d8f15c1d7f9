import {
  createPerson,
  findByEmail,
  findPasswordHash,
  type Person,
  readEmail,
} from "../../domain/accounts/people.ts";
import { passwordFault } from "../../domain/accounts/passwords.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { SiteContext, SiteDeps, SiteRouter } from "../context.ts";
import { clientAddress, readSiteForm } from "../form.ts";
import { sendHtmlPage } from "../layout.tsx";
import { Field, Form, Notice } from "../parts.tsx";
import { seeOther, seeOtherWith } from "../respond.ts";
import { countTry } from "../sign_in_guard.ts";
import { beginSession, forgetSession, readReturnTo } from "../visitor.ts";
import { registerWithCredit, signInNew } from "../register_person.ts";

const REGISTRATIONS_FROM = { burst: 20, everySeconds: 120 };

const MISSING = "Enter your e-mail address and your password.";
const WRONG = "This e-mail address and password do not go together.";

interface Attempt {
  returnTo: string;
  email?: string;
  name?: string;
  fault?: string | null;
  faults?: Partial<Record<"email" | "name" | "password", string | null>>;
  status?: number;
}

/** Registering, signing in and out, by e-mail address and password. */
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
    if (c.var.signedIn !== null) await deps.sessions.end(c.var.signedIn.session);
    return forgetSession(c, seeOtherWith(c, "/", "info", "You are signed out."));
  });
}

async function postSignIn(c: SiteContext, deps: SiteDeps): Promise<Response> {
  const form = await readSiteForm(c);
  const returnTo = readReturnTo(form.return_to);
  const email = readEmail(form.email ?? "");
  const attempt = { returnTo, email: form.email?.slice(0, 320) ?? "" };
  const { password = "" } = form;
  if (password === "") return signInPage(c, { ...attempt, fault: MISSING, status: 400 });
  try {
    const response = await tryPassword(c, deps, email, password, returnTo);
    return response ?? signInPage(c, { ...attempt, fault: WRONG, status: 401 });
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== "rate_limited") throw error;
    const page = signInPage(c, { ...attempt, fault: error.message, status: 429 });
    page.headers.set("retry-after", String(error.retryAfterSeconds ?? 60));
    return page;
  }
}

/** Signs in whoever knows the password; null when it is not right, or there is no such person. */
async function tryPassword(
  c: SiteContext,
  deps: SiteDeps,
  email: string | null,
  password: string,
  returnTo: string,
): Promise<Response | null> {
  const found = email === null ? null : await findByEmail(deps.database.sql, email);
  const { asker, succeeded } = await countTry(c, deps, email ?? "", found?.person.id ?? null);
  // The same work whether or not there is such a person, so that the time tells nothing.
  const fits = await deps.passwords.fits(password, found?.passwordHash ?? null, asker);
  const response = found !== null && fits ? await letIn(c, deps, found, returnTo) : null;
  if (response !== null) await succeeded();
  return response;
}

/**
 * Signs in whoever's password fitted; null when it was changed meanwhile. That ended every session there
 * was, but this one began only after: comparing takes its time, and has to wait for others'.
 */
async function letIn(
  c: SiteContext,
  deps: SiteDeps,
  { person, passwordHash }: { person: Person; passwordHash: string | null },
  returnTo: string,
): Promise<Response | null> {
  const { id, response } = await beginSession(c, deps, person, returnTo);
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
  const attempt: Attempt = {
    returnTo: readReturnTo(form.return_to),
    email: form.email?.slice(0, 320) ?? "",
    name: form.name?.slice(0, 200) ?? "",
  };
  const faults = {
    email: email === null ? "This does not look like an e-mail address." : null,
    name: name.length > 200 ? "Use at most 200 characters." : null,
    password: passwordFault(password, email ?? ""),
  };
  if (email === null || faults.name !== null || faults.password !== null) {
    return registerPage(c, { ...attempt, faults, status: 422 });
  }
  await deps.throttle.take([[`register-from:${clientAddress(c)}`, REGISTRATIONS_FROM]]);
  const passwordHash = await deps.passwords.hash(password, { client: clientAddress(c) });
  const welcomed = await registerWithCredit(
    c,
    deps,
    (sql) => createPerson(sql, { email, name, passwordHash }),
  );
  if (welcomed === null) return await alreadyThere(c, deps, email, password, attempt);
  return await signInNew(c, deps, welcomed, attempt.returnTo);
}

/**
 * The address is taken. Its owner, who forgot having registered, is signed in; anybody else hears what
 * they would hear for an address that cannot be registered for other reasons.
 */
async function alreadyThere(
  c: SiteContext,
  deps: SiteDeps,
  email: string,
  password: string,
  attempt: Attempt,
): Promise<Response> {
  const response = await tryPassword(c, deps, email, password, attempt.returnTo);
  return response ?? registerPage(c, {
    ...attempt,
    fault: "No account could be made with these details. If you have one already, sign in instead.",
    status: 422,
  });
}

function signInPage(
  c: SiteContext,
  { returnTo, email = "", fault, status = 200 }: Attempt,
): Response {
  return sendHtmlPage(
    c,
    { title: "Sign in", width: "narrow", status },
    <div class="stack">
      <h1>Sign in</h1>
      {fault && <Notice kind="bad" role="alert">{fault}</Notice>}
      <Elsewhere c={c} returnTo={returnTo} />
      <Form c={c} action="/sign-in" class="form card">
        <input type="hidden" name="return_to" value={returnTo} />
        <Field
          name="email"
          label="E-mail address"
          type="email"
          value={email}
          required
          autocomplete="username"
          autofocus={email === ""}
        />
        <Field
          name="password"
          label="Password"
          type="password"
          required
          autocomplete="current-password"
          autofocus={email !== ""}
        />
        <button class="button button-primary button-wide" type="submit">Sign in</button>
      </Form>
      {c.env.config.site.registration && (
        <p class="soft">
          New here? <a href={`/register?${query(returnTo)}`}>Create an account</a>
        </p>
      )}
    </div>,
  );
}

function registerPage(
  c: SiteContext,
  { returnTo, email = "", name = "", fault, faults = {}, status = 200 }: Attempt,
): Response {
  return sendHtmlPage(
    c,
    { title: "Create an account", width: "narrow", status },
    <div class="stack">
      <h1>Create an account</h1>
      {fault && <Notice kind="bad" role="alert">{fault}</Notice>}
      <Elsewhere c={c} returnTo={returnTo} />
      <Form c={c} action="/register" class="form card">
        <input type="hidden" name="return_to" value={returnTo} />
        <Field
          name="name"
          label="Name"
          value={name}
          maxlength={200}
          autocomplete="name"
          hint="Yours or your team's. You may leave it empty."
          fault={faults.name}
        />
        <Field
          name="email"
          label="E-mail address"
          type="email"
          value={email}
          required
          autocomplete="username"
          fault={faults.email}
        />
        <Field
          name="password"
          label="Password"
          type="password"
          required
          minlength={10}
          maxlength={256}
          autocomplete="new-password"
          hint="10 characters or more. A few unrelated words are good."
          fault={faults.password}
        />
        <button class="button button-primary button-wide" type="submit">Create account</button>
      </Form>
      <p class="soft">
        Have an account? <a href={`/sign-in?${query(returnTo)}`}>Sign in</a>
      </p>
    </div>,
  );
}

/** Links, not forms: what follows is another site, and our forms lead nowhere but here. */
function Elsewhere({ c, returnTo }: { c: SiteContext; returnTo: string }) {
  const providers = [...c.env.config.site.signIn.values()];
  if (providers.length === 0) return null;
  return (
    <>
      <div class="stack-s">
        {providers.map(({ id, name }) => (
          <a class="button button-wide" href={`/sign-in/${id}?${query(returnTo)}`}>
            Continue with {name}
          </a>
        ))}
      </div>
      <div class="or" aria-hidden="true">or</div>
    </>
  );
}

function closedPage(c: SiteContext): Response {
  return sendHtmlPage(
    c,
    { title: "Registration is closed", width: "narrow", status: 403 },
    <div class="stack">
      <h1>Registration is closed</h1>
      <p class="soft">The operator of this service makes the accounts here.</p>
      <a class="button" href="/sign-in">Sign in</a>
    </div>,
  );
}

function query(returnTo: string): string {
  return new URLSearchParams({ return_to: returnTo }).toString();
}
