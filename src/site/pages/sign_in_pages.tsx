import type { SiteContext } from "../context.ts";
import { sendHtmlPage } from "../layout.tsx";
import { accountForm } from "../request_forms.ts";
import { Field, Form, NewPasswordField, Notice } from "../parts.tsx";
import { signInReason } from "./sign_in_reason.ts";

export interface SignInForm {
  returnTo: string;
  email?: string;
  name?: string;
  error?: string | null;
  fieldErrors?: Partial<Record<"email" | "name" | "password", string | null>>;
  status?: number;
}

export function signInPage(
  c: SiteContext,
  { returnTo, email = "", error, status = 200 }: SignInForm,
): Response {
  const reason = signInReason(returnTo);
  return sendHtmlPage(
    c,
    { title: "Sign in", width: "narrow", status },
    <div class="stack">
      <div class="stack-s">
        <h1>Sign in</h1>
        {reason !== null && <p class="soft">{reason}</p>}
      </div>
      {error && <Notice kind="bad" role="alert">{error}</Notice>}
      <OAuthLinks c={c} returnTo={returnTo} />
      <Form c={c} action="/sign-in" class="form card">
        <input type="hidden" name="return_to" value={returnTo} />
        <Field
          name="email"
          label="Email"
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

export function registerPage(
  c: SiteContext,
  { returnTo, email = "", name = "", error, fieldErrors = {}, status = 200 }: SignInForm,
): Response {
  return sendHtmlPage(
    c,
    { title: "Create account", width: "narrow", status },
    <div class="stack">
      <h1>Create account</h1>
      {error && <Notice kind="bad" role="alert">{error}</Notice>}
      <OAuthLinks c={c} returnTo={returnTo} />
      <Form c={c} action="/register" class="form card">
        <input type="hidden" name="return_to" value={returnTo} />
        <Field
          name="name"
          label="Name"
          value={name}
          {...accountForm.limits("name")}
          required={false}
          autocomplete="name"
          hint="Optional. Your name or your team's."
          error={fieldErrors.name}
        />
        <Field
          name="email"
          label="Email"
          type="email"
          value={email}
          required
          autocomplete="username"
          error={fieldErrors.email}
        />
        <NewPasswordField
          label="Password"
          hint="A few unrelated words work well."
          error={fieldErrors.password}
        />
        <button class="button button-primary button-wide" type="submit">Create account</button>
      </Form>
      <p class="soft">
        Already have an account? <a href={`/sign-in?${query(returnTo)}`}>Sign in</a>
      </p>
    </div>,
  );
}

/** Links, not forms: the CSP restricts forms to this origin, and these lead to another. */
function OAuthLinks({ c, returnTo }: { c: SiteContext; returnTo: string }) {
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

export function closedPage(c: SiteContext): Response {
  return sendHtmlPage(
    c,
    { title: "Registration is closed", width: "narrow", status: 403 },
    <div class="stack">
      <h1>Registration is closed</h1>
      <p class="soft">Accounts are created by the operator of this service.</p>
      <a class="button" href="/sign-in">Sign in</a>
    </div>,
  );
}

function query(returnTo: string): string {
  return new URLSearchParams({ return_to: returnTo }).toString();
}
