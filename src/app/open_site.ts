import { join } from "node:path";
import { startExpiryLoop } from "../domain/accounts/browser_grants.ts";
import { OAuth } from "../domain/accounts/oauth.ts";
import { Passwords } from "../domain/accounts/passwords.ts";
import { kvSessions, postgresSessions } from "../domain/accounts/session_stores.ts";
import { Sessions } from "../domain/accounts/sessions.ts";
import { Throttle } from "../domain/accounts/throttle.ts";
import { systemClock } from "../lib/clock.ts";
import type { Settings } from "./environment.ts";
import type { GatewayTiming } from "./timing.ts";
import type { Config } from "../platform/config/config.ts";
import { openapi } from "../http/openapi.ts";
import { toApiError } from "../http/render_error.ts";
import type { SiteDeps } from "../site/context.ts";
import { openKv } from "../platform/database/kv.ts";

type Deps = Omit<
  SiteDeps,
  "sessions" | "passwords" | "throttle" | "oauth" | "toApiError" | "document"
>;

/** Adds what only the pages need: sessions, passwords, sign-in with other providers, and a throttle of attempts. */
export async function openSite(
  deps: Deps,
  { dataDir, timing }: Pick<Settings, "dataDir"> & { timing?: GatewayTiming },
): Promise<{ deps: SiteDeps } & AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  const { database: { sql, kind }, configStore, log } = deps;
  const where = configStore.current.storage.sessions;
  if (where === "kv" && kind === "server") {
    log.info("sessions are stored on this node, several nodes need storage.sessions: postgres");
  }
  const store = where === "postgres"
    ? postgresSessions(sql)
    : kvSessions(opened.adopt(await openKv(join(dataDir, "kv.sqlite"), log), (kv) => kv.close()));
  opened.use(startExpiryLoop(sql));
  const siteDeps: SiteDeps = {
    ...deps,
    sessions: opened.use(new Sessions(store, systemClock)),
    passwords: opened.use(new Passwords(timing?.passwords)),
    throttle: opened.use(new Throttle(sql)),
    oauth: new OAuth(),
    toApiError,
    document: (config: Config) => openapi(config),
  };
  const parts = opened.move();
  return { deps: siteDeps, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}
