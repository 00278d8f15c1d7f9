import type { Context, Next } from "hono";
import { accountSuspended } from "../domain/accounts/account_status.ts";
import { DEVICE_SECONDS, markDevice } from "../domain/accounts/known_devices.ts";
import { findPerson, type Person } from "../domain/accounts/people.ts";
import { formToken, SESSION_MS } from "../domain/accounts/sessions.ts";
import type { SessionSecret } from "../domain/accounts/session_seal.ts";
import { auditSession } from "./audit_session.ts";
import { cookieText, readCookie } from "./cookies.ts";
import {
  type Flash,
  signedInOf,
  type SiteContext,
  type SiteDeps,
  type SiteEnv,
} from "./context.ts";
import { seeOther } from "./respond.ts";

/** Loads the session of the request, before any page. */
export function loadSession({ sessions, database }: SiteDeps) {
  return async function loadSession(c: Context<SiteEnv>, next: Next): Promise<void> {
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
    // Shown once; a redirect keeps it for the page that follows.
    if (c.var.flash !== null && c.res.headers.get("content-type")?.startsWith("text/html")) {
      c.res.headers.append("set-cookie", cookieText(c, "flash", "", { maxAgeSeconds: 0 }));
    }
  };
}

/** Sends visitors who are not signed in to the sign-in page, which leads back here. */
export async function requireSignIn(c: Context<SiteEnv>, next: Next): Promise<Response | void> {
  if (c.var.signedIn === null) return seeOther(signInUrl(c));
  if (c.var.signedIn.person.isSuspended) throw accountSuspended();
  return await next();
}

/** Answers 404 to everyone but operators. */
export async function requireOperator(c: Context<SiteEnv>, next: Next): Promise<Response | void> {
  if (c.var.signedIn === null) return seeOther(signInUrl(c));
  if (!c.var.signedIn.person.isOperator) return await c.notFound();
  await next();
}

function signInUrl(c: SiteContext): string {
  const { pathname, search } = new URL(c.req.url);
  // A redirect cannot repeat a POST: its sender continues at the console.
  const here = c.req.method === "GET" ? pathname + search : "/console";
  return `/sign-in?${new URLSearchParams({ return_to: here })}`;
}

/** Signs a person in on this browser: ends the session of the request, if any, and starts a new one. */
export async function signIn(
  c: SiteContext,
  deps: SiteDeps,
  person: Person,
  returnTo: string,
): Promise<Response> {
  return (await startSession(c, deps, person, returnTo)).response;
}

/** As `signIn`; also returns the session id that the browser gets. */
export async function startSession(
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
  await auditSession(c, { database }, "session.start", person);
  const response = seeOther(returnTo);
  const cookie = cookieText(c, "session", id, { maxAgeSeconds: SESSION_MS / 1000 });
  response.headers.append("set-cookie", cookie);
  // A known browser has its own count of attempts: wrong passwords from elsewhere do not block it.
  const mark = await markDevice(database.sql, person.id, Date.now());
  const device = cookieText(c, "device", mark, { maxAgeSeconds: DEVICE_SECONDS });
  response.headers.append("set-cookie", device);
  return { id, response };
}

/** The session of the request, with the secret of its browser. */
export function sessionSecretOf(c: SiteContext): SessionSecret {
  return { hash: signedInOf(c).session.hash, secret: readCookie(c, "session") ?? "" };
}

/** Removes the session cookie from the browser. The caller ends the session itself. */
export function clearSessionCookie(c: SiteContext, response: Response): Response {
  response.headers.append("set-cookie", cookieText(c, "session", "", { maxAgeSeconds: 0 }));
  return response;
}

const FLASH_CHARACTERS_MAX = 500;
/** One slash first, and no backslash before the query: browsers read it as a slash. */
const PATH = /^\/(?!\/)[!->@-[\]-~]*(?:\?[!-~]*)?$/;
/** Fits the longest browser authorization request: a state of 1,024 characters, percent-encoded. */
const RETURN_TO_CHARACTERS_MAX = 12 * 1024;

/** Where to go after sign-in: a path of this site, never another origin. */
export function readReturnTo(value: string | undefined, otherwise = "/console"): string {
  const isPath = value !== undefined && value.length <= RETURN_TO_CHARACTERS_MAX &&
    PATH.test(value);
  return isPath ? value : otherwise;
}

function readFlash(c: SiteContext): Flash | null {
  const cookie = readCookie(c, "flash");
  if (cookie === undefined) return null;
  try {
    const { kind, text } = JSON.parse(decodeURIComponent(cookie));
    const known = ["good", "warn", "bad", "info"].includes(kind) && typeof text === "string";
    return known ? { kind, text: text.slice(0, FLASH_CHARACTERS_MAX) } : null;
  } catch (error) {
    // A cookie that this site did not write.
    if (error instanceof SyntaxError || error instanceof URIError) return null;
    throw error;
  }
}
