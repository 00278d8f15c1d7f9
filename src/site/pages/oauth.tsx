import { z } from "zod";
import {
  createFromIdentity,
  findByIdentity,
  type Identity,
  linkIdentity,
  unlinkIdentity,
} from "../../domain/accounts/identities.ts";
import { type PendingSignIn, SignInFailure } from "../../domain/accounts/oauth.ts";
import { audited } from "../../domain/audit/audit.ts";
import { mustStillBeSignedIn, verifyAddress } from "../../domain/accounts/people.ts";
import { addressToken } from "../../domain/accounts/sessions.ts";
import { withoutTrailing } from "../../lib/without_trailing.ts";
import type { SignInProvider } from "../../platform/config/config.ts";
import { memberOf } from "../actor.ts";
import { cookieText, readCookie } from "../cookies.ts";
import { signedInOf, type SiteContext, type SiteDeps, type SiteRouter } from "../context.ts";
import { clientAddress, readSiteForm } from "../form.ts";
import { siteOrigin } from "../base_url.ts";
import { seeOther, seeOtherWith } from "../respond.ts";
import { readReturnTo, signIn } from "../visitor.ts";
import { registerWithCredit, type Registration, signInNewPerson } from "../register_person.ts";

const PENDING_SECONDS = 600;
const STARTS_PER_CLIENT = { burst: 60, everySeconds: 10 };
const Pending: z.ZodType<PendingSignIn> = z.object({
  provider: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  link: z.string().nullable(),
});

/** Sign-in through the configured OAuth and OpenID Connect providers. */
export function mountOAuth(site: SiteRouter, deps: SiteDeps): void {
  site.get("/sign-in/:provider", (c) => startOAuth(c, deps));
  site.get("/sign-in/:provider/callback", (c) => oauthCallback(c, deps));
  site.post("/account/identities/remove", async (c) => {
    const { provider = "" } = await readSiteForm(c);
    const { id, account } = signedInOf(c).person;
    const isRemoved = await audited(deps, memberOf(c), async ({ sql, audit }) => {
      if (!await unlinkIdentity(sql, id, provider)) return false;
      await audit({ action: "identity.unlink", account, subject: id, before: { provider } });
      return true;
    });
    return isRemoved
      ? seeOtherWith(c, "/account", "good", "Sign-in method removed.")
      : seeOtherWith(
        c,
        "/account",
        "warn",
        "This is your only sign-in method. Set a password first.",
      );
  });
}

async function startOAuth(c: SiteContext, deps: SiteDeps): Promise<Response> {
  const provider = c.env.config.site.signIn.get(c.req.param("provider") ?? "");
  if (provider === undefined) return await c.notFound();
  const returnTo = readReturnTo(c.req.query("return_to"));
  const link = c.req.query("link") ?? null;
  // A visitor who is signed in stays in their session, unless they connect a provider to it.
  if (c.var.signedIn !== null && !isLinking(c, provider, link)) return seeOther(returnTo);
  await deps.throttle.take([[`oauth-from:${clientAddress(c)}`, STARTS_PER_CLIENT]]);
  try {
    const { address, pending } = await deps.oauth.begin(provider, callbackOf(c, provider), {
      returnTo,
      link: c.var.signedIn === null ? null : link,
    });
    const response = seeOther(address);
    const value = withoutTrailing(btoa(JSON.stringify(pending)), "=");
    const cookie = cookieText(c, "oauth", value, { maxAgeSeconds: PENDING_SECONDS });
    response.headers.append("set-cookie", cookie);
    return response;
  } catch (error) {
    return handleFailure(c, deps, provider, error);
  }
}

async function oauthCallback(c: SiteContext, deps: SiteDeps): Promise<Response> {
  const provider = c.env.config.site.signIn.get(c.req.param("provider") ?? "");
  if (provider === undefined) return await c.notFound();
  const pending = readPending(c, provider);
  if (pending === null) {
    return seeOtherWith(c, "/sign-in", "warn", "Sign-in took too long. Please try again.");
  }
  let response: Response;
  try {
    const url = new URL(c.req.url);
    const identity = await deps.oauth.complete(provider, callbackOf(c, provider), url, pending);
    response = pending.link === null
      ? await signInWithIdentity(c, deps, { provider, identity, pending })
      : await connectIdentity(c, deps, { provider, identity, pending });
  } catch (error) {
    response = handleFailure(c, deps, provider, error);
  }
  // The pending sign-in is valid once.
  response.headers.append("set-cookie", cookieText(c, "oauth", "", { maxAgeSeconds: 0 }));
  return response;
}

/**
 * Whether the visitor followed the link of the account page in this session. Nothing else connects an
 * identity: otherwise an attacker could connect their own identity to the account of a victim's browser.
 */
function isLinking(c: SiteContext, { id }: SignInProvider, link: string | null): boolean {
  const session = readCookie(c, "session");
  return c.var.signedIn !== null && session !== undefined &&
    link === addressToken(session, `link:${id}`);
}

interface OAuthResult {
  provider: SignInProvider;
  identity: Identity;
  pending: PendingSignIn;
}

async function connectIdentity(
  c: SiteContext,
  deps: SiteDeps,
  { provider, identity, pending: { link, returnTo } }: OAuthResult,
): Promise<Response> {
  const { name } = provider;
  if (!isLinking(c, provider, link)) {
    return seeOtherWith(c, "/sign-in", "warn", "Please sign in and connect the provider again.");
  }
  const { person } = signedInOf(c);
  const isLinked = await audited(deps, memberOf(c), async ({ sql, audit }) => {
    await mustStillBeSignedIn(sql, person);
    if (!await linkIdentity(sql, person.id, identity)) return false;
    // The person controls both the account and the mailbox.
    if (identity.email !== null) await verifyAddress(sql, person.id, identity.email);
    const { id: subject, account } = person;
    const after = { provider: provider.id };
    await audit({ action: "identity.link", account, subject, after });
    return true;
  });
  return isLinked ? seeOtherWith(c, returnTo, "good", `${name} connected.`) : seeOtherWith(
    c,
    returnTo,
    "bad",
    `That ${name} account is already connected to another account.`,
  );
}

/** Signs in or registers the person of an identity. An email alone never connects it to an account. */
async function signInWithIdentity(
  c: SiteContext,
  deps: SiteDeps,
  { provider, identity, pending: { returnTo } }: OAuthResult,
): Promise<Response> {
  const { sql } = deps.database;
  const found = await findByIdentity(sql, identity);
  if (found !== null && identity.email !== null) await verifyAddress(sql, found.id, identity.email);
  if (found !== null) return await signIn(c, deps, found, returnTo);
  const registration = await registerIdentity(c, deps, identity);
  if (registration !== null) return await signInNewPerson(c, deps, registration, returnTo);
  const reason = !c.env.config.site.registration
    ? "Registration is closed."
    : identity.email === null
    ? `${provider.name} has no verified email for you. Verify one there first.`
    : `An account with the email ${identity.email} already exists. Sign in the way you did before, then connect ${provider.name} in your account settings. If you did not create that account, ask the operator for a new password.`;
  return seeOtherWith(c, "/sign-in", "warn", reason);
}

async function registerIdentity(
  c: SiteContext,
  deps: SiteDeps,
  identity: Identity,
): Promise<Registration | null> {
  const { email } = identity;
  if (email === null || !c.env.config.site.registration) return null;
  return await registerWithCredit(
    c,
    deps,
    (sql) => createFromIdentity(sql, { ...identity, email }),
  );
}

function handleFailure(
  c: SiteContext,
  deps: SiteDeps,
  provider: SignInProvider,
  error: unknown,
): Response {
  if (!(error instanceof SignInFailure)) throw error;
  deps.log.warn("oauth sign-in failed", {
    request_id: c.env.requestId,
    provider: provider.id,
    error: error.cause ?? error,
  });
  const back = c.var.signedIn === null ? "/sign-in" : "/account";
  return seeOtherWith(c, back, "bad", `Sign-in with ${provider.name} failed. Please try again.`);
}

function readPending(c: SiteContext, provider: SignInProvider): PendingSignIn | null {
  const cookie = readCookie(c, "oauth");
  if (cookie === undefined) return null;
  try {
    const pending = Pending.parse(JSON.parse(atob(cookie)));
    if (pending.provider !== provider.id) return null;
    // With plain http another program on this computer may have written the cookie.
    return { ...pending, returnTo: readReturnTo(pending.returnTo) };
  } catch (error) {
    // A cookie that this site did not write.
    const isForeign = error instanceof z.ZodError || error instanceof SyntaxError ||
      error instanceof DOMException;
    if (isForeign) return null;
    throw error;
  }
}

/** The callback URL as registered at the provider: from the configured site URL. */
function callbackOf(c: SiteContext, { id }: SignInProvider): string {
  return `${siteOrigin(c)}/sign-in/${id}/callback`;
}
