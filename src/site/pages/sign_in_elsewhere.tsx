import { z } from "zod";
import {
  createFromIdentity,
  findByIdentity,
  type Identity,
  linkIdentity,
  unlinkIdentity,
} from "../../domain/accounts/identities.ts";
import { type PendingSignIn, SignInFailure } from "../../domain/accounts/oauth.ts";
import { mustStillBeSignedIn, verifyAddress } from "../../domain/accounts/people.ts";
import { addressToken } from "../../domain/accounts/sessions.ts";
import { withoutTrailing } from "../../lib/without_trailing.ts";
import type { SignInProvider } from "../../platform/config/config.ts";
import { cookieText, readCookie } from "../cookies.ts";
import { signedInOf, type SiteContext, type SiteDeps, type SiteRouter } from "../context.ts";
import { clientAddress, readSiteForm } from "../form.ts";
import { siteOrigin } from "../forgery.ts";
import { seeOther, seeOtherWith } from "../respond.ts";
import { readReturnTo, signIn } from "../visitor.ts";
import { type Registered, registerWithCredit, signInNew } from "../register_person.ts";

const AWAY_SECONDS = 600;
const STARTS_FROM = { burst: 60, everySeconds: 10 };
const Pending: z.ZodType<PendingSignIn> = z.object({
  provider: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  link: z.string().nullable(),
});

/** Signing in through declared providers: away, and back with an identity. */
export function mountSignInElsewhere(site: SiteRouter, deps: SiteDeps): void {
  site.get("/sign-in/:provider", (c) => leave(c, deps));
  site.get("/sign-in/:provider/callback", (c) => comeBack(c, deps));
  site.post("/account/identities/remove", async (c) => {
    const { provider = "" } = await readSiteForm(c);
    const gone = await unlinkIdentity(deps.database.sql, signedInOf(c).person.id, provider);
    return gone
      ? seeOtherWith(c, "/account", "good", "That way to sign in is removed.")
      : seeOtherWith(
        c,
        "/account",
        "warn",
        "It is your only way to sign in: set a password first.",
      );
  });
}

async function leave(c: SiteContext, deps: SiteDeps): Promise<Response> {
  const provider = c.env.config.site.signIn.get(c.req.param("provider") ?? "");
  if (provider === undefined) return await c.notFound();
  const returnTo = readReturnTo(c.req.query("return_to"));
  const link = c.req.query("link") ?? null;
  // As on the page for signing in: whoever is signed in stays who they are, whatever link they followed.
  if (c.var.signedIn !== null && !isLinking(c, provider, link)) return seeOther(returnTo);
  await deps.throttle.take([[`leave-from:${clientAddress(c)}`, STARTS_FROM]]);
  try {
    const { address, pending } = await deps.oauth.begin(provider, callbackOf(c, provider), {
      returnTo,
      link: c.var.signedIn === null ? null : link,
    });
    const response = seeOther(address);
    const value = withoutTrailing(btoa(JSON.stringify(pending)), "=");
    const cookie = cookieText(c, "oauth", value, { maxAgeSeconds: AWAY_SECONDS });
    response.headers.append("set-cookie", cookie);
    return response;
  } catch (error) {
    return failed(c, deps, provider, error);
  }
}

async function comeBack(c: SiteContext, deps: SiteDeps): Promise<Response> {
  const provider = c.env.config.site.signIn.get(c.req.param("provider") ?? "");
  if (provider === undefined) return await c.notFound();
  const pending = readPending(c, provider);
  if (pending === null) {
    return seeOtherWith(c, "/sign-in", "warn", "That took too long: please sign in again.");
  }
  let response: Response;
  try {
    const came = new URL(c.req.url);
    const identity = await deps.oauth.complete(provider, callbackOf(c, provider), came, pending);
    response = pending.link === null
      ? await admit(c, deps, provider, identity, pending.returnTo)
      : await connect(c, deps, provider, identity, pending);
  } catch (error) {
    response = failed(c, deps, provider, error);
  }
  // It is good for one return.
  response.headers.append("set-cookie", cookieText(c, "oauth", "", { maxAgeSeconds: 0 }));
  return response;
}

/**
 * Whether the account page's own link was followed, in this very session. Nothing else connects: a
 * stranger who signs somebody's browser in as himself elsewhere must not become a way into their account.
 */
function isLinking(c: SiteContext, { id }: SignInProvider, link: string | null): boolean {
  const session = readCookie(c, "session");
  return c.var.signedIn !== null && session !== undefined &&
    link === addressToken(session, `link:${id}`);
}

async function connect(
  c: SiteContext,
  deps: SiteDeps,
  provider: SignInProvider,
  identity: Identity,
  { link, returnTo }: PendingSignIn,
): Promise<Response> {
  const { name } = provider;
  if (!isLinking(c, provider, link)) {
    return seeOtherWith(c, "/sign-in", "warn", "Sign in, and connect it again.");
  }
  const { person } = signedInOf(c);
  const isLinked = await deps.database.sql.begin(async (sql) => {
    await mustStillBeSignedIn(sql, person);
    if (!await linkIdentity(sql, person.id, identity)) return false;
    // They hold both the account and the mailbox.
    if (identity.email !== null) await verifyAddress(sql, person.id, identity.email);
    return true;
  });
  return isLinked
    ? seeOtherWith(c, returnTo, "good", `${name} is connected.`)
    : seeOtherWith(c, returnTo, "bad", `That ${name} account belongs to somebody else here.`);
}

/** Decides who an identity is here. Nobody is ever linked to an account by an e-mail address alone. */
async function admit(
  c: SiteContext,
  deps: SiteDeps,
  provider: SignInProvider,
  identity: Identity,
  returnTo: string,
): Promise<Response> {
  const { sql } = deps.database;
  const found = await findByIdentity(sql, identity);
  if (found !== null && identity.email !== null) await verifyAddress(sql, found.id, identity.email);
  if (found !== null) return await signIn(c, deps, found, returnTo);
  const made = await make(c, deps, identity);
  if (made !== null) return await signInNew(c, deps, made, returnTo);
  const reason = !c.env.config.site.registration
    ? "Registration is closed here."
    : identity.email === null
    ? `${provider.name} vouches for no e-mail address of yours: verify one there first.`
    : `An account with the address ${identity.email} exists. Sign in as you did before, then connect ${provider.name} on the account page. If it was not you who registered, ask the operator for a new password.`;
  return seeOtherWith(c, "/sign-in", "warn", reason);
}

async function make(
  c: SiteContext,
  deps: SiteDeps,
  identity: Identity,
): Promise<Registered | null> {
  const { email } = identity;
  if (email === null || !c.env.config.site.registration) return null;
  return await registerWithCredit(
    c,
    deps,
    (sql) => createFromIdentity(sql, { ...identity, email }),
  );
}

function failed(
  c: SiteContext,
  deps: SiteDeps,
  provider: SignInProvider,
  error: unknown,
): Response {
  if (!(error instanceof SignInFailure)) throw error;
  deps.log.warn("sign-in elsewhere failed", {
    request_id: c.env.requestId,
    provider: provider.id,
    error: error.cause ?? error,
  });
  const back = c.var.signedIn === null ? "/sign-in" : "/account";
  return seeOtherWith(c, back, "bad", `Signing in with ${provider.name} did not work: try again.`);
}

function readPending(c: SiteContext, provider: SignInProvider): PendingSignIn | null {
  try {
    const pending = Pending.parse(JSON.parse(atob(readCookie(c, "oauth") ?? "")));
    if (pending.provider !== provider.id) return null;
    // On plain http another program of this machine may have written the cookie.
    return { ...pending, returnTo: readReturnTo(pending.returnTo) };
  } catch {
    return null;
  }
}

/** As registered at the provider: from the declared address, never from what a request claims. */
function callbackOf(c: SiteContext, { id }: SignInProvider): string {
  return `${siteOrigin(c)}/sign-in/${id}/callback`;
}
