import type { Context, Next } from "hono";
import { DEVICE_SECONDS, markDevice } from "../domain/accounts/known_devices.ts";
import { findPerson, type Person } from "../domain/accounts/people.ts";
import { formToken, SESSION_MS } from "../domain/accounts/sessions.ts";
import { cookieText, readCookie } from "./cookies.ts";
import type { Flash, SiteContext, SiteDeps, SiteEnv } from "./context.ts";
import { seeOther } from "./respond.ts";

/** Finds out who is looking, before any page. */
export function recogniseVisitor({ sessions, database }: SiteDeps) {
  return async function recogniseVisitor(c: Context<SiteEnv>, next: Next): Promise<void> {
    c.set("signedIn", null);
    c.set("csrf", "");
    c.set("flash", readFlash(c));
    const id = readCookie(c, "session");
    const session = id === undefined ? null : await sessions.find(id);
    if (id !== undefined && session !== null) {
      const person = await findPerson(database.sql, session.person);
      if (person === null || person.sessionEpoch !== session.epoch) await sessions.end(session);
      else {
        c.set("signedIn", { person, session });
        c.set("csrf", formToken(id));
      }
    }
    await next();
    // Told once; a redirect passes it on.
    if (c.var.flash !== null && c.res.headers.get("content-type")?.startsWith("text/html")) {
      c.res.headers.append("set-cookie", cookieText(c, "flash", "", { maxAgeSeconds: 0 }));
    }
  };
}

/** Lets only people who are signed in through; others sign in first and come back. */
export async function mustBeSignedIn(c: Context<SiteEnv>, next: Next): Promise<Response | void> {
  if (c.var.signedIn !== null) return await next();
  return seeOther(signInAddress(c));
}

/** Operators only. To others the page does not exist. */
export async function mustBeOperator(c: Context<SiteEnv>, next: Next): Promise<Response | void> {
  if (c.var.signedIn === null) return seeOther(signInAddress(c));
  if (!c.var.signedIn.person.isOperator) return await c.notFound();
  await next();
}

function signInAddress(c: SiteContext): string {
  const { pathname, search } = new URL(c.req.url);
  // A form cannot be sent again by a redirect: its sender lands where the form was.
  const here = c.req.method === "GET" ? pathname + search : "/console";
  return `/sign-in?${new URLSearchParams({ return_to: here })}`;
}

/** Signs a person in on this browser: the old session, if any, ends, and a new one begins. */
export async function signIn(
  c: SiteContext,
  deps: SiteDeps,
  person: Person,
  returnTo: string,
): Promise<Response> {
  return (await beginSession(c, deps, person, returnTo)).response;
}

/** The same, and the id that the browser is given. */
export async function beginSession(
  c: SiteContext,
  { sessions, database }: SiteDeps,
  person: Person,
  returnTo: string,
): Promise<{ id: string; response: Response }> {
  if (c.var.signedIn !== null) await sessions.end(c.var.signedIn.session);
  const id = await sessions.begin(
    person.id,
    c.req.header("user-agent") ?? "unknown",
    person.sessionEpoch,
  );
  const response = seeOther(returnTo);
  const cookie = cookieText(c, "session", id, { maxAgeSeconds: SESSION_MS / 1000 });
  response.headers.append("set-cookie", cookie);
  // From now on wrong passwords of others do not hold up this browser.
  const mark = await markDevice(database.sql, person.id, Date.now());
  const device = cookieText(c, "device", mark, { maxAgeSeconds: DEVICE_SECONDS });
  response.headers.append("set-cookie", device);
  return { id, response };
}

/** Takes the session away from the browser; ending it is the caller's part. */
export function forgetSession(c: SiteContext, response: Response): Response {
  response.headers.append("set-cookie", cookieText(c, "session", "", { maxAgeSeconds: 0 }));
  return response;
}

/** One slash first, and no backslash before the query: browsers take it for a slash. */
const PATH = /^\/(?!\/)[!->@-[\]-~]*(?:\?[!-~]*)?$/;
/** Room for the longest request for browser authorization: a state of 1,024 characters, percent-encoded. */
const RETURN_TO_CHARACTERS_MAX = 12 * 1024;

/** Where to go after signing in: a path of this site, never another's address. */
export function readReturnTo(value: string | undefined, otherwise = "/console"): string {
  const isPath = value !== undefined && value.length <= RETURN_TO_CHARACTERS_MAX &&
    PATH.test(value);
  return isPath ? value : otherwise;
}

function readFlash(c: SiteContext): Flash | null {
  try {
    const { kind, text } = JSON.parse(decodeURIComponent(readCookie(c, "flash") ?? ""));
    const known = ["good", "warn", "bad", "info"].includes(kind) && typeof text === "string";
    return known ? { kind, text: text.slice(0, 500) } : null;
  } catch {
    return null;
  }
}
