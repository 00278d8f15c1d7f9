import type { Context } from "hono";
import type { Caller } from "../domain/accounts/api_key_cache.ts";
import type { AccountPlan, Config } from "../platform/config/config.ts";
import type { BodyReservation } from "../domain/limits/body_reservation.ts";
import type { Allowance } from "../domain/limits/limiter.ts";
import type { RequestBodies } from "../domain/limits/request_bodies.ts";

/** One request on its way through: what is learnt about it is noted here, for headers and the log. */
export interface HttpExchange {
  readonly requestId: string;
  /** As `performance.now()`. */
  readonly startedAt: number;
  /** The connection it came on. Reading it costs, so only who needs it does. */
  readonly info: { readonly remoteAddr: Deno.Addr };
  /** As asked for: endpoints see a HEAD as the GET it stands for. */
  readonly method: string;
  /** The path as asked for; the query is not part of it. */
  readonly path: string;
  /** The plan it started with; a reload in between does not touch it. */
  readonly config: Config;
  /** The endpoint's path as declared, for metrics; never the address itself. */
  route: string;
  clientRequestId: string | null;
  /** Set before the guard only by our own site, for whoever is signed in there. */
  caller: Caller | null;
  /** What the caller's account is on. */
  accountPlan: AccountPlan | null;
  rate: Allowance | null;
  readonly bodies: RequestBodies;
  /** A smaller limit for its body than the declared one. */
  bodyBytesMax?: number;
  /** Room for its body, if that is large; given back when it is answered. */
  body: BodyReservation | null;
  /** The code it was refused with. */
  errorCode: string | null;
}

export interface Env {
  Bindings: HttpExchange;
}

export type HttpContext = Context<Env>;
export type Endpoint = (c: HttpContext) => Response | Promise<Response>;

/** An account as the declaration looks at it: what it may see and what it pays. */
export interface CallingAccount {
  readonly id: string;
  readonly plan: string;
  readonly priceBook: string | null;
}

/** Whose request this is, in an endpoint that is only reached after authentication. */
export function accountOf(c: HttpContext): CallingAccount {
  const { caller, accountPlan } = c.env;
  if (caller === null || accountPlan === null) {
    throw new Error("this endpoint is not behind authentication");
  }
  return { id: caller.account, plan: accountPlan.id, priceBook: caller.priceBook };
}

const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" };
/** Shared by nearly every answer: nothing is built for what is always the same. */
const PLAIN = { headers: JSON_HEADERS };

/** Sends JSON text that is already written. */
export function sendJson(text: string, status = 200, headers?: Record<string, string>): Response {
  if (status === 200 && headers === undefined) return new Response(text, PLAIN);
  return new Response(text, { status, headers: { ...JSON_HEADERS, ...headers } });
}
