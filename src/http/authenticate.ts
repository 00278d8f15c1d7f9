import type { ApiKeyCache, Caller } from "../domain/accounts/api_key_cache.ts";
import type { CompiledRestrictions } from "../domain/accounts/key_restrictions.ts";
import { readClientAddress } from "./client_address.ts";
import { accountSuspended } from "../domain/accounts/account_status.ts";
import { ApiError } from "../lib/api_error.ts";
import type { AccountPlan, Config } from "../platform/config/config.ts";
import type { Allowance, Limiter } from "../domain/limits/limiter.ts";
import type { BodyLog } from "../domain/requests/body_log.ts";
import { OpenRequest } from "../domain/requests/open_request.ts";
import type { RequestLog } from "../domain/requests/request_log.ts";
import { traced } from "../platform/tracing/traced.ts";
import type { Endpoint, HttpContext, HttpExchange } from "./exchange.ts";

export interface AuthenticateDeps {
  apiKeys: ApiKeyCache;
  limiter: Limiter;
  requestLog: RequestLog;
  bodyLog: BodyLog;
}

/** What the metrics and the request log call a route. */
export interface RouteLabels {
  /** Its path as configured. */
  readonly route: string;
  /** Its operation; null for an unknown endpoint. */
  readonly operation: string | null;
  /** It calls models. Bodies of other requests are never kept: some have secrets of the account. */
  readonly isCharged?: boolean;
}

/** A slowed account may make this fraction of its plan's requests. */
const SLOWED_DIVISOR = 10;
const BEARER = /^ *bearer +([\x21-\x7e]+) *$/i;
const CLIENT_REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/**
 * Authenticates a request under /v1 and applies the key's request rate. A plain function around the endpoint
 * rather than a middleware: with a cached key nothing here waits. From here on the request is in the request log.
 */
export function authenticated(
  deps: AuthenticateDeps,
  { route, operation, isCharged = false }: RouteLabels,
  endpoint: Endpoint,
): Endpoint {
  const proceed = (c: HttpContext, caller: Caller | null, next: Endpoint) => {
    if (caller === null) {
      throw new ApiError(
        "invalid_api_key",
        "Invalid API key. It may be mistyped, rotated or revoked: check it in the console.",
      );
    }
    const exchange = c.env;
    const { restrictions } = caller;
    if (restrictions !== null && restrictions.expiresAt <= Date.now()) throw keyExpired();
    const logged = exchange.caller === null ? caller : { account: caller.account, key: null };
    const request = exchange.logged = new OpenRequest(deps.requestLog, exchange, logged, operation);
    const { bodies: keep, bodyBytesMax: bytesMax } = exchange.config.logs;
    if (keep !== "off" && isCharged && caller.logBodies) {
      request.bodies = deps.bodyLog.open(request, { keep, bytesMax });
    }
    return applyRateLimit(deps, c, caller, next);
  };
  return function authenticatedEndpoint(c) {
    const exchange = c.env;
    const { headers } = c.req.raw;
    exchange.route = route;
    const next = readClientRequestId(exchange, headers) ? endpoint : invalidClientRequestId;
    if (exchange.caller !== null) return proceed(c, exchange.caller, next);
    const key = readApiKey(headers);
    const caller = traced(
      exchange.span,
      "authenticate",
      () => deps.apiKeys.find(key, exchange.startedAt),
    );
    return caller instanceof Promise
      ? caller.then((found) => proceed(c, found, next))
      : proceed(c, caller, next);
  };
}

function applyRateLimit(
  deps: AuthenticateDeps,
  c: HttpContext,
  caller: Caller,
  endpoint: Endpoint,
): Response | Promise<Response> {
  const exchange = c.env;
  exchange.caller = caller;
  const now = Date.now();
  const plan = planOf(exchange.config, caller, now);
  const { rates } = exchange.accountPlan = limitedPlan(plan, caller.restrictions);
  const isSlowed = caller.slowedUntil > now;
  const rate = isSlowed
    // All keys of a slowed account share one rate, so another key does not help.
    ? deps.limiter.take(
      `slowed ${caller.account}`,
      Math.max(1, Math.floor(plan.rates.requestsPerMinute / SLOWED_DIVISOR)),
      1,
      exchange.startedAt,
    )
    : deps.limiter.take(caller.key, rates.requestsPerMinute, 1, exchange.startedAt);
  if (rate instanceof Promise) {
    return rate.then((taken) => callEndpoint(c, taken, endpoint, isSlowed));
  }
  return callEndpoint(c, rate, endpoint, isSlowed);
}

function callEndpoint(
  c: HttpContext,
  rate: Allowance,
  endpoint: Endpoint,
  isSlowed: boolean,
): Response | Promise<Response> {
  c.env.rate = rate;
  requireAdmitted(c);
  if (!rate.allowed) {
    throw new ApiError(
      "rate_limit_exceeded",
      isSlowed
        ? `Too many requests: this account is temporarily limited to ${rate.limit} requests per minute, because ` +
          "several of its requests cost more than its balance. Add credit or send a smaller max_tokens."
        : `Too many requests: this API key is limited to ${rate.limit} requests per minute. Wait before you retry.`,
      {
        retryAfterSeconds: rate.retryAfterSeconds,
      },
    );
  }
  return endpoint(c);
}

/** The current plan of an account. One that has ended or is no longer configured counts as `free`. */
function planOf(config: Config, caller: Caller, now: number): AccountPlan {
  const name = caller.planExpiresAt > now ? caller.plan : "free";
  return config.plans.get(name) ?? config.plans.get("free")!;
}

/** The API key: a bearer token, or where there is none `x-api-key`, as clients of Anthropic's API send it. */
function readApiKey(headers: Headers): string {
  const key = headers.has("authorization") ? null : headers.get("x-api-key")?.trim();
  return key ? key : readBearerToken(headers, "API key");
}

/** The plan with the rates of the key, where those are lower. */
function limitedPlan(plan: AccountPlan, restrictions: CompiledRestrictions | null): AccountPlan {
  if (restrictions === null) return plan;
  const { rates } = plan;
  return {
    ...plan,
    rates: {
      ...rates,
      requestsPerMinute: Math.min(rates.requestsPerMinute, restrictions.requestsPerMinute),
      tokensPerMinute: Math.min(rates.tokensPerMinute, restrictions.tokensPerMinute),
    },
  };
}

/** The token of `Authorization: Bearer <token>`. */
export function readBearerToken(headers: Headers, what: string): string {
  const header = headers.get("authorization");
  if (header === null || header.trim() === "") {
    throw new ApiError(
      "missing_api_key",
      `Missing ${what}: send the header "Authorization: Bearer <${what}>".`,
    );
  }
  const token = BEARER.exec(header)?.[1];
  if (token === undefined) {
    throw new ApiError("missing_api_key", `The Authorization header must read "Bearer <${what}>".`);
  }
  return token;
}

/** Returns whether the header is valid, or not there. */
function readClientRequestId(exchange: HttpExchange, headers: Headers): boolean {
  const id = headers.get("x-client-request-id");
  if (id === null) return true;
  if (!CLIENT_REQUEST_ID.test(id)) return false;
  exchange.clientRequestId = id;
  return true;
}

function keyExpired(): ApiError {
  return new ApiError(
    "api_key_expired",
    "This API key has expired. Create a new one in the console, or move its end.",
  );
}

/** Throws where the account is suspended, or the key may not be used from the client's address. */
function requireAdmitted(c: HttpContext): void {
  const { isSuspended, restrictions } = c.env.caller!;
  if (isSuspended) throw accountSuspended();
  const allowed = restrictions?.allowedIps ?? null;
  if (allowed === null || allowed.has(readClientAddress(c.env, c.req.raw.headers))) return;
  throw new ApiError(
    "ip_not_allowed",
    "This API key may not be used from this IP address: see its allowed_ips.",
  );
}

/** In place of the endpoint: the caller is known, and its log shows the error. */
function invalidClientRequestId(): never {
  throw new ApiError(
    "invalid_value",
    "X-Client-Request-Id must be 1 to 128 visible ASCII characters.",
    { param: "X-Client-Request-Id" },
  );
}
