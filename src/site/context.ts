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
import type { TaskDeps } from "../workflows/tasks/deps.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import type { Webhooks } from "../domain/webhooks/webhooks.ts";

/** What the front tells the site about a request, and hears back for metrics and the log. */
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

/** Who is signed in, and by which session. */
export interface SignedIn {
  readonly person: Person;
  readonly session: Session;
}

export interface SiteEnv {
  Bindings: SiteExchange;
  Variables: {
    signedIn: SignedIn | null;
    /** Goes into every form as `csrf`, or into the header `x-csrf-token`; empty when signed out. */
    csrf: string;
    /** Told once, on the page after the one that did something. */
    flash: Flash | null;
  };
}

export type SiteContext = Context<SiteEnv>;
export type SiteRouter = Hono<SiteEnv>;

/** What pages are made from. Parts of the site take the slice they need. */
export interface SiteDeps {
  readonly database: Database;
  readonly cluster: Cluster;
  readonly configStore: ConfigStore;
  readonly log: Log;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly throttle: Throttle;
  readonly oauth: OAuth;
  /** Whatever was thrown, as what a visitor may read. */
  readonly toApiError: (error: unknown) => ApiError;
  readonly upstreams: Upstreams;
  readonly tasks: TaskDeps;
  readonly webhooks: Webhooks;
  /** Calls the API under /v1 as somebody who is known already: the same stories, limits and prices. */
  readonly callApi: (
    caller: Caller,
    request: Request,
    within: SiteExchange,
  ) => Response | Promise<Response>;
  /** The OpenAPI document of a plan. */
  readonly document: (config: Config) => Record<string, unknown>;
}

/** Who is signed in, on a page that is only reached so. */
export function signedInOf(c: SiteContext): SignedIn {
  const { signedIn } = c.var;
  if (signedIn === null) throw new Error("this page is not behind sign-in");
  return signedIn;
}

export function personOf(c: SiteContext): Person {
  return signedInOf(c).person;
}
