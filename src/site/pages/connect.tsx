import {
  findGrant,
  type GrantDelivery,
  grantKey,
  type GrantRequest,
  keyNameOf,
  takeKey,
} from "../../domain/accounts/browser_grants.ts";
import { audited } from "../../domain/audit/audit.ts";
import { listKeys } from "../../domain/accounts/api_keys.ts";
import {
  personOf,
  signedInOf,
  type SiteContext,
  type SiteDeps,
  type SiteRouter,
} from "../context.ts";
import { memberOf } from "../actor.ts";
import { readSiteForm } from "../form.ts";
import { seeOther } from "../respond.ts";
import { requireSignIn, sessionSecretOf } from "../visitor.ts";
import { consentPage, expiredPage, invalidRequestPage, resultPage } from "./connect_pages.tsx";
import { callbackUrl, readConnectRequest } from "./connect_request.ts";

const ENTRY = "/connect/browser-auth";
const GRANTS_PER_PERSON = { burst: 20, everySeconds: 30 };
/** The redirect target gets the key in its URL; it must not get our URL as referrer. */
const NO_REFERRER = { "referrer-policy": "no-referrer" };

/** Browser authorization: a program on this computer gets its own API key after consent. */
export function mountConnect(site: SiteRouter, deps: SiteDeps): void {
  site.get("/connect/cli-auth", (c) => seeOther(ENTRY + new URL(c.req.url).search));
  site.get(ENTRY, (c) => showConsent(c, deps));
  site.use(`${ENTRY}/*`, requireSignIn);
  site.post(ENTRY, requireSignIn, (c) => decide(c, deps));
  site.get(`${ENTRY}/sent`, (c) => showResult(c, deps));
  site.post(`${ENTRY}/send`, (c) => deliverKey(c, deps));
}

/** Checks the request before sign-in: no user should enter a password for an invalid request. */
async function showConsent(c: SiteContext, { database }: SiteDeps): Promise<Response> {
  const { search, searchParams } = new URL(c.req.url);
  const read = readConnectRequest(searchParams);
  if ("errors" in read) return invalidRequestPage(c, read.errors);
  if (c.var.signedIn === null) {
    return seeOther(`/sign-in?${new URLSearchParams({ return_to: ENTRY + search })}`);
  }
  const name = keyNameOf(read.request.client);
  const keys = await listKeys(database.sql, personOf(c).account);
  const existing = keys.find((key) => key.name === name && key.revoked === null);
  return consentPage(c, read.request, existing ?? null);
}

async function decide(c: SiteContext, deps: SiteDeps): Promise<Response> {
  const form = await readSiteForm(c);
  const read = readConnectRequest(new URLSearchParams(form.request));
  if ("errors" in read) return invalidRequestPage(c, read.errors);
  const { request } = read;
  if (form.decision !== "allow") {
    return seeOther(callbackUrl(request, { error: "access_denied" }), NO_REFERRER);
  }
  const { person } = signedInOf(c);
  await deps.throttle.take([[`grant:${person.id}`, GRANTS_PER_PERSON]]);
  const { account } = person;
  const { ticket } = await audited(deps, memberOf(c), async (change) => {
    const granted = await grantKey(change, person, request, sessionSecretOf(c));
    for (const subject of granted.revoked) {
      await change.audit({ action: "key.revoke", account, subject });
    }
    const { created } = granted;
    await change.audit({ action: "key.create", account, subject: created.id, after: created });
    return granted;
  });
  return seeOther(`${ENTRY}/sent?${new URLSearchParams({ ticket })}`);
}

async function showResult(c: SiteContext, { database }: SiteDeps): Promise<Response> {
  const ticket = c.req.query("ticket") ?? "";
  const grant = await findGrant(database.sql, ticket, sessionSecretOf(c));
  return grant === null ? expiredPage(c) : resultPage(c, grant, ticket);
}

/**
 * Redirects to the program with the key in the URL. The script of the result page follows the redirect
 * without seeing it; the form of that page follows it in the window.
 */
async function deliverKey(c: SiteContext, { database }: SiteDeps): Promise<Response> {
  const { ticket = "", way } = await readSiteForm(c);
  const delivery: GrantDelivery = way === "quiet" ? "script" : "redirect";
  const taken = await takeKey(database.sql, ticket, sessionSecretOf(c), delivery);
  if (taken === null) return expiredPage(c);
  return seeOther(callbackUrl(taken as GrantRequest, { api_key: taken.key }), NO_REFERRER);
}
