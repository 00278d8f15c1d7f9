import type { LinkedIdentity } from "../../domain/accounts/identities.ts";
import { addressToken, type Session } from "../../domain/accounts/sessions.ts";
import { readCookie } from "../cookies.ts";
import { signedInOf, type SiteContext } from "../context.ts";
import { deviceName } from "../device.ts";
import { Time } from "../time.tsx";
import { sendHtmlPage } from "../layout.tsx";
import { Badge, Field, Form, NewPasswordField, PageHead } from "../parts.tsx";
import { accountForm } from "../request_forms.ts";
import type { AccountErrors } from "./account.tsx";

interface AccountView {
  sessions: readonly Session[];
  identities: readonly LinkedIdentity[];
  errors: AccountErrors;
}

export function accountPage(c: SiteContext, view: AccountView): Response {
  const { person } = signedInOf(c);
  const hasError = Object.values(view.errors).some(Boolean);
  return sendHtmlPage(
    c,
    { title: "Account", at: "account", width: "text", status: hasError ? 422 : 200 },
    <>
      <PageHead title="Account">
        <Form c={c} action="/sign-out" class="row">
          <button class="button" type="submit">Sign out</button>
        </Form>
      </PageHead>
      <div class="stack-l">
        <section class="card stack" aria-labelledby="you">
          <h2 id="you">Profile</h2>
          <dl class="facts">
            <dt>Email</dt>
            <dd>{person.email}</dd>
            <dt>Account ID</dt>
            <dd>
              <code>{person.account}</code>
            </dd>
            <dt>Created</dt>
            <dd>
              <Time at={person.createdAt} as="date" />{" "}
              {person.isOperator && <Badge kind="info">Operator</Badge>}
            </dd>
          </dl>
          <Form c={c} action="/account/name">
            <Field
              name="name"
              label="Name"
              value={person.name}
              {...accountForm.limits("name")}
              autocomplete="name"
              error={view.errors.name}
            />
            <div>
              <button class="button" type="submit">Save</button>
            </div>
          </Form>
        </section>
        <Password c={c} errors={view.errors} />
        <Providers c={c} identities={view.identities} />
        <Sessions c={c} view={view} />
        <Delete c={c} errors={view.errors} />
      </div>
    </>,
  );
}

/** Tells password managers which account the password belongs to. */
function Username({ email }: { email: string }) {
  return <input type="text" autocomplete="username" value={email} readonly hidden />;
}

function Password({ c, errors }: { c: SiteContext; errors: AccountErrors }) {
  const { person } = signedInOf(c);
  return (
    <section class="card stack" aria-labelledby="password">
      <h2 id="password">{person.hasPassword ? "Change password" : "Set password"}</h2>
      <Form c={c} action="/account/password">
        <Username email={person.email} />
        {person.hasPassword && (
          <Field
            name="current"
            label="Current password"
            type="password"
            required
            autocomplete="current-password"
            error={errors.current}
          />
        )}
        <NewPasswordField
          label="New password"
          hint="Other browsers will be signed out."
          error={errors.password}
        />
        <div>
          <button class="button" type="submit">Update password</button>
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
      <h2 id="providers">Sign-in methods</h2>
      <ul class="sessions">
        {identities.map(({ provider, createdAt }) => (
          <li>
            <span>
              {signIn.get(provider)?.name ?? provider}{" "}
              <span class="faint small">
                connected <Time at={createdAt} as="date" />
              </span>
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

/** The token protects a link the way the CSRF token protects a form: the CSP keeps forms on this origin. */
function linkQuery(c: SiteContext, provider: string): string {
  const link = addressToken(readCookie(c, "session") ?? "", `link:${provider}`);
  return new URLSearchParams({ return_to: "/account", link }).toString();
}

function Sessions({ c, view }: { c: SiteContext; view: AccountView }) {
  const here = signedInOf(c).session.hash;
  return (
    <section class="card stack" aria-labelledby="sessions">
      <div class="row-between">
        <h2 id="sessions">Sessions</h2>
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
                {session.hash === here && <Badge kind="good">This browser</Badge>}
              </div>
              <div class="small faint">
                Last active <Time at={new Date(session.seenAt)} as="relative" />, signed in{" "}
                <Time at={new Date(session.createdAt)} as="relative" />
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

function Delete({ c, errors }: { c: SiteContext; errors: AccountErrors }) {
  const { person } = signedInOf(c);
  return (
    <section class="card stack danger-zone" aria-labelledby="delete">
      <h2 id="delete">Delete account</h2>
      <p class="soft">
        Your name, email and password are erased, all API keys stop working immediately, and any
        remaining balance is lost. Billing records are kept without your name. This cannot be
        undone.
      </p>
      <details class="disclosure" open={Boolean(errors.confirm)}>
        <summary>Delete account</summary>
        <Form c={c} action="/account/delete">
          <Username email={person.email} />
          <Field
            name="confirm"
            label={person.hasPassword ? "Your password" : "Your email"}
            type={person.hasPassword ? "password" : "email"}
            required
            autocomplete={person.hasPassword ? "current-password" : "off"}
            error={errors.confirm}
          />
          <div>
            <button class="button button-danger" type="submit">Delete account permanently</button>
          </div>
        </Form>
      </details>
    </section>
  );
}
