import type { Context, Hono } from "hono";
import type { Caller } from "../domain/accounts/api_key_cache.ts";
import type { OAuth } from "../domain/accounts/oauth.ts";
import type { Passwords } from "../domain/accounts/passwords.ts";
import type { Person } from "../domain/accounts/people.ts";
import type { Session, Sessions } from "../domain/accounts/sessions.ts";
import type { Throttle } from "../domain/accounts/throttle.ts";
import type { ApiError } from "../lib/api_error.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Config } from "../platform/config/config.ts";
import type { BodyReservation } from "../domain/limits/body_reservation.ts";
import type { RequestBodies } from "../domain/limits/request_bodies.ts";
import type { Cluster } from "../platform/cluster/cluster.ts";
import type { Database } from "../platform/database/database.ts";
import type { BodyLog } from "../domain/requests/body_log.ts";
import type { RequestLog } from "../domain/requests/request_log.ts";
import type { TaskDeps } from "../workflows/tasks/deps.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import type { Webhooks } from "../domain/webhooks/webhooks.ts";

/** A request as the HTTP server passes it to the site. The site sets `route` and `refusal` for metrics and the log. */
export interface SiteExchange {
  readonly requestId: string;
  readonly config: Config;
  route: string;
  errorCode: string | null;
  readonly info: { readonly remoteAddr: Deno.Addr };
  readonly bodies: RequestBodies;
  body: BodyReservation | null;
}

export interface Flash {
  readonly kind: "good" | "warn" | "bad" | "info";
  readonly text: string;
}

/** The signed-in person and their session. */
export interface SignedIn {
  readonly person: Person;
  readonly session: Session;
}

export interface SiteEnv {
  Bindings: SiteExchange;
  Variables: {
    signedIn: SignedIn | null;
    /** Sent with every form as `csrf`, or as the header `x-csrf-token`; empty when signed out. */
    csrf: string;
    /** A message that is shown once, on the page after a redirect. */
    flash: Flash | null;
  };
}

export type SiteContext = Context<SiteEnv>;
export type SiteRouter = Hono<SiteEnv>;

/** Dependencies of the site. Its parts take the ones they need. */
export interface SiteDeps {
  readonly database: Database;
  readonly cluster: Cluster;
  readonly configStore: ConfigStore;
  readonly log: Log;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly throttle: Throttle;
  readonly oauth: OAuth;
  /** Turns anything thrown into an error that a visitor may read. */
  readonly toApiError: (error: unknown) => ApiError;
  readonly upstreams: Upstreams;
  readonly tasks: TaskDeps;
  readonly webhooks: Webhooks;
  readonly requestLog: RequestLog;
  readonly bodyLog: BodyLog;
  /** Calls the API under /v1 as an account, without an API key: the same workflows, limits and prices. */
  readonly callApi: (
    caller: Caller,
    request: Request,
    within: SiteExchange,
  ) => Response | Promise<Response>;
  /** The OpenAPI document of a configuration. */
  readonly document: (config: Config) => Record<string, unknown>;
}

/** The signed-in person and session, on a page behind sign-in. */
export function signedInOf(c: SiteContext): SignedIn {
  const { signedIn } = c.var;
  if (signedIn === null) {
    throw new Error("Cannot read the session: this page is not behind sign-in");
  }
  return signedIn;
}

export function personOf(c: SiteContext): Person {
  return signedInOf(c).person;
}
