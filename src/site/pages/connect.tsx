import {
  findGrant,
  type GrantDelivery,
  grantKey,
  type GrantRequest,
  type GrantSession,
  keyNameOf,
  takeKey,
} from "../../domain/accounts/browser_grants.ts";
import { listKeys } from "../../domain/accounts/api_keys.ts";
import { readCookie } from "../cookies.ts";
import {
  personOf,
  signedInOf,
  type SiteContext,
  type SiteDeps,
  type SiteRouter,
} from "../context.ts";
import { readSiteForm } from "../form.ts";
import { seeOther } from "../respond.ts";
import { mustBeSignedIn } from "../visitor.ts";
import { consentPage, expiredPage, faultPage, resultPage } from "./connect_pages.tsx";
import { callbackAddress, readConnectRequest } from "./connect_request.ts";

const ENTRY = "/connect/browser-auth";
const GRANTS = { burst: 20, everySeconds: 30 };
/** The address that follows holds the key: nobody shall hear where the browser came from. */
const UNSEEN = { "referrer-policy": "no-referrer" };

/** Browser authorization: a program on this machine gets a key of its own, once its owner agrees. */
export function mountConnect(site: SiteRouter, deps: SiteDeps): void {
  site.get("/connect/cli-auth", (c) => seeOther(ENTRY + new URL(c.req.url).search));
  site.get(ENTRY, (c) => enter(c, deps));
  site.use(`${ENTRY}/*`, mustBeSignedIn);
  site.post(ENTRY, mustBeSignedIn, (c) => decide(c, deps));
  site.get(`${ENTRY}/sent`, (c) => showResult(c, deps));
  site.post(`${ENTRY}/send`, (c) => send(c, deps));
}

/** Faults come before sign-in: nobody shall type a password for a request that cannot work. */
async function enter(c: SiteContext, { database }: SiteDeps): Promise<Response> {
  const { search, searchParams } = new URL(c.req.url);
  const read = readConnectRequest(searchParams);
  if ("faults" in read) return faultPage(c, read.faults);
  if (c.var.signedIn === null) {
    return seeOther(`/sign-in?${new URLSearchParams({ return_to: ENTRY + search })}`);
  }
  const name = keyNameOf(read.request.client);
  const keys = await listKeys(database.sql, personOf(c).account);
  const present = keys.find((key) => key.name === name && key.revoked === null);
  return consentPage(c, read.request, present ?? null);
}

async function decide(c: SiteContext, deps: SiteDeps): Promise<Response> {
  const form = await readSiteForm(c);
  const read = readConnectRequest(new URLSearchParams(form.request));
  if ("faults" in read) return faultPage(c, read.faults);
  const { request } = read;
  if (form.decision !== "allow") {
    return seeOther(callbackAddress(request, { error: "access_denied" }), UNSEEN);
  }
  const { person } = signedInOf(c);
  await deps.throttle.take([[`grant:${person.id}`, GRANTS]]);
  const ticket = await grantKey(deps, person, request, grantSession(c));
  return seeOther(`${ENTRY}/sent?${new URLSearchParams({ ticket })}`);
}

async function showResult(c: SiteContext, { database }: SiteDeps): Promise<Response> {
  const ticket = c.req.query("ticket") ?? "";
  const grant = await findGrant(database.sql, ticket, grantSession(c));
  return grant === null ? expiredPage(c) : resultPage(c, grant, ticket);
}

/**
 * Answers with the way to the program, key included. A script of the result page follows it unseen
 * and never learns it; the form on that page follows it with the whole window.
 */
async function send(c: SiteContext, { database }: SiteDeps): Promise<Response> {
  const { ticket = "", way } = await readSiteForm(c);
  const delivery: GrantDelivery = way === "quiet" ? "script" : "redirect";
  const taken = await takeKey(database.sql, ticket, grantSession(c), delivery);
  if (taken === null) return expiredPage(c);
  return seeOther(callbackAddress(taken as GrantRequest, { api_key: taken.key }), UNSEEN);
}

function grantSession(c: SiteContext): GrantSession {
  return { hash: signedInOf(c).session.hash, secret: readCookie(c, "session") ?? "" };
}
