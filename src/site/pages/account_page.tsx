import type { LinkedIdentity } from "../../domain/accounts/identities.ts";
import { addressToken, type Session } from "../../domain/accounts/sessions.ts";
import { readCookie } from "../cookies.ts";
import { signedInOf, type SiteContext } from "../context.ts";
import { deviceName } from "../device.ts";
import { ago, day } from "../format.ts";
import { sendHtmlPage } from "../layout.tsx";
import { Badge, Field, Form, PageHead } from "../parts.tsx";
import type { AccountFaults } from "./account.tsx";

interface AccountView {
  sessions: readonly Session[];
  identities: readonly LinkedIdentity[];
  faults: AccountFaults;
  now: number;
}

export function accountPage(c: SiteContext, view: AccountView): Response {
  const { person } = signedInOf(c);
  const isFaulty = Object.values(view.faults).some(Boolean);
  return sendHtmlPage(
    c,
    { title: "Account", at: "account", width: "text", status: isFaulty ? 422 : 200 },
    <>
      <PageHead title="Account">
        <Form c={c} action="/sign-out" class="row">
          <button class="button" type="submit">Sign out</button>
        </Form>
      </PageHead>
      <div class="stack-l">
        <section class="card stack" aria-labelledby="you">
          <h2 id="you">You</h2>
          <dl class="facts">
            <dt>E-mail address</dt>
            <dd>{person.email}</dd>
            <dt>Account</dt>
            <dd>
              <code>{person.account}</code>
            </dd>
            <dt>Since</dt>
            <dd>
              {day(person.createdAt)} {person.isOperator && <Badge kind="info">Operator</Badge>}
            </dd>
          </dl>
          <Form c={c} action="/account/name">
            <Field
              name="name"
              label="Name"
              value={person.name}
              required
              maxlength={200}
              autocomplete="name"
              fault={view.faults.name}
            />
            <div>
              <button class="button" type="submit">Save the name</button>
            </div>
          </Form>
        </section>
        <Password c={c} faults={view.faults} />
        <Providers c={c} identities={view.identities} />
        <Sessions c={c} view={view} />
        <Delete c={c} faults={view.faults} />
      </div>
    </>,
  );
}

/** Tells a password manager whose password it is. */
function Username({ email }: { email: string }) {
  return <input type="text" autocomplete="username" value={email} readonly hidden />;
}

function Password({ c, faults }: { c: SiteContext; faults: AccountFaults }) {
  const { person } = signedInOf(c);
  return (
    <section class="card stack" aria-labelledby="password">
      <h2 id="password">{person.hasPassword ? "Change the password" : "Set a password"}</h2>
      <Form c={c} action="/account/password">
        <Username email={person.email} />
        {person.hasPassword && (
          <Field
            name="present"
            label="Present password"
            type="password"
            required
            autocomplete="current-password"
            fault={faults.present}
          />
        )}
        <Field
          name="password"
          label="New password"
          type="password"
          required
          minlength={10}
          maxlength={256}
          autocomplete="new-password"
          hint="10 characters or more. Other browsers are signed out."
          fault={faults.password}
        />
        <div>
          <button class="button" type="submit">Set the password</button>
        </div>
      </Form>
    </section>
  );
}

function Providers(
  { c, identities }: { c: SiteContext; identities: readonly LinkedIdentity[] },
) {
  const { signIn } = c.env.config.site;
  const linked = new Set(identities.map(({ provider }) => provider));
  if (signIn.size === 0 && linked.size === 0) return null;
  const free = [...signIn.values()].filter(({ id }) => !linked.has(id));
  return (
    <section class="card stack" aria-labelledby="providers">
      <h2 id="providers">Other ways to sign in</h2>
      <ul class="sessions">
        {identities.map(({ provider, createdAt }) => (
          <li>
            <span>
              {signIn.get(provider)?.name ?? provider}{" "}
              <span class="faint small">since {day(createdAt)}</span>
            </span>
            <Form c={c} action="/account/identities/remove" class="row">
              <input type="hidden" name="provider" value={provider} />
              <button class="button button-small" type="submit">Remove</button>
            </Form>
          </li>
        ))}
        {free.map(({ id, name }) => (
          <li>
            <span>{name}</span>
            <a class="button button-small" href={`/sign-in/${id}?${linkQuery(c, id)}`}>Connect</a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A link and not a form, because our forms lead nowhere but here; so it carries a token of its own. */
function linkQuery(c: SiteContext, provider: string): string {
  const link = addressToken(readCookie(c, "session") ?? "", `link:${provider}`);
  return new URLSearchParams({ return_to: "/account", link }).toString();
}

function Sessions({ c, view }: { c: SiteContext; view: AccountView }) {
  const here = signedInOf(c).session.hash;
  return (
    <section class="card stack" aria-labelledby="sessions">
      <div class="row-between">
        <h2 id="sessions">Signed-in browsers</h2>
        <Form c={c} action="/account/sessions/end-all" class="row">
          <button class="button button-small" type="submit">Sign out everywhere</button>
        </Form>
      </div>
      <ul class="sessions">
        {view.sessions.map((session) => (
          <li>
            <div>
              <div>
                {deviceName(session.device)}{" "}
                {session.hash === here && <Badge kind="good">This one</Badge>}
              </div>
              <div class="small faint">
                Last seen {ago(session.seenAt, view.now)}, signed in{" "}
                {ago(session.createdAt, view.now)}
              </div>
            </div>
            {session.hash !== here && (
              <Form c={c} action="/account/sessions/end" class="row">
                <input type="hidden" name="session" value={session.hash} />
                <button
                  class="button button-small"
                  type="submit"
                  aria-label={`Sign out ${deviceName(session.device)}`}
                >
                  Sign out
                </button>
              </Form>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Delete({ c, faults }: { c: SiteContext; faults: AccountFaults }) {
  const { person } = signedInOf(c);
  return (
    <section class="card stack danger-zone" aria-labelledby="delete">
      <h2 id="delete">Delete the account</h2>
      <p class="soft">
        Your name, address and password are erased, every API key stops working at once, and what is
        left of the balance is lost. The books keep what was charged, without your name. This cannot
        be undone.
      </p>
      <details class="disclosure" open={Boolean(faults.confirm)}>
        <summary>I want to delete it</summary>
        <Form c={c} action="/account/delete">
          <Username email={person.email} />
          <Field
            name="confirm"
            label={person.hasPassword ? "Your password" : "Your e-mail address"}
            type={person.hasPassword ? "password" : "email"}
            required
            autocomplete={person.hasPassword ? "current-password" : "off"}
            fault={faults.confirm}
          />
          <div>
            <button class="button button-danger" type="submit">Delete my account</button>
          </div>
        </Form>
      </details>
    </section>
  );
}
