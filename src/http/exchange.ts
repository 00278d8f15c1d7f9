import type { Context } from "hono";
import type { AdminCaller } from "./admin/require_token.ts";
import type { Caller } from "../domain/accounts/api_key_cache.ts";
import type { AccountPlan, Config, Model, ModelReader } from "../platform/config/config.ts";
import type { BodyReservation } from "../domain/limits/body_reservation.ts";
import type { Allowance } from "../domain/limits/limiter.ts";
import type { RequestBodies } from "../domain/limits/request_bodies.ts";
import type { OpenRequest } from "../domain/requests/open_request.ts";
import type { Span } from "../platform/tracing/span.ts";

/** The state of one request, for endpoints, response headers and the log. */
export interface HttpExchange {
  readonly requestId: string;
  /** As `performance.now()`. */
  readonly startedAt: number;
  /** The client's connection. Reading it is expensive. */
  readonly info: { readonly remoteAddr: Deno.Addr };
  /** As sent by the client: endpoints see a HEAD as GET. */
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  /** The configuration that it started with; a reload in between does not change it. */
  readonly config: Config;
  /** The route's path as configured, for metrics; never the URL itself. */
  route: string;
  clientRequestId: string | null;
  /** Set before authentication only by our own site, for the account that is signed in there. */
  caller: Caller | null;
  /** Who calls the admin API; null elsewhere. */
  adminCaller: AdminCaller | null;
  /** The current plan of the caller's account. */
  accountPlan: AccountPlan | null;
  /** Null: the request is not traced. */
  readonly span: Span | null;
  /** Its row of the request log, from authentication on. */
  logged: OpenRequest | null;
  rate: Allowance | null;
  readonly bodies: RequestBodies;
  /** A smaller limit for its body than the configured one. */
  bodyBytesMax?: number;
  /** Memory reservation of a large body; released with the response. */
  body: BodyReservation | null;
  /** Time of upstreams that is not in the attempts of `logged`: at the task that the response waited for, or a test. */
  upstreamMs: number;
  /** The error code of the response. */
  errorCode: string | null;
}

export interface Env {
  Bindings: HttpExchange;
}

export type HttpContext = Context<Env>;
export type Endpoint = (c: HttpContext) => Response | Promise<Response>;
/** An endpoint that is called with the body of its request, read and checked. */
export type BodyEndpoint<Body> = (c: HttpContext, body: Body) => Response | Promise<Response>;

/** What the configuration needs to know of an account: which models it sees and what it pays. */
export interface CallingAccount {
  readonly id: string;
  readonly plan: string;
  readonly priceBook: string | null;
  /** Tells whether its key is for a model; null: it is for all. */
  readonly allowsModel: ModelReader["allowsModel"];
  /** What its key spends is limited. */
  readonly hasKeyBudget: boolean;
}

/** The request log has the model's own id, as the receipt does, not the alias that the client sent. */
export function logModel(c: HttpContext, { id }: Pick<Model, "id">): void {
  if (c.env.logged !== null) c.env.logged.model = id;
}

/** The calling account, in an endpoint behind authentication. */
export function accountOf(c: HttpContext): CallingAccount {
  const { caller, accountPlan } = c.env;
  if (caller === null || accountPlan === null) {
    throw new Error("this endpoint is not behind authentication");
  }
  return {
    id: caller.account,
    plan: accountPlan.id,
    priceBook: caller.priceBook,
    allowsModel: caller.restrictions?.models,
    hasKeyBudget: caller.restrictions?.hasBudget ?? false,
  };
}

const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" };
/** Shared by nearly every response: no allocation for constants. */
const PLAIN = { headers: JSON_HEADERS };

/** Sends JSON text: as a string, as bytes, or part by part. */
export function sendJson(
  text: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>,
  status = 200,
  headers?: Record<string, string>,
): Response {
  if (status === 200 && headers === undefined) return new Response(text, PLAIN);
  return new Response(text, { status, headers: { ...JSON_HEADERS, ...headers } });
}
