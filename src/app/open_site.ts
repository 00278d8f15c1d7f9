import { join } from "node:path";
import { startExpiryLoop } from "../domain/accounts/browser_grants.ts";
import { OAuth } from "../domain/accounts/oauth.ts";
import { Passwords } from "../domain/accounts/passwords.ts";
import { kvSessions, postgresSessions } from "../domain/accounts/session_stores.ts";
import { Sessions } from "../domain/accounts/sessions.ts";
import { Throttle } from "../domain/accounts/throttle.ts";
import { systemClock } from "../lib/clock.ts";
import type { Config } from "../platform/config/config.ts";
import { openapi } from "../http/openapi.ts";
import { toApiError } from "../http/render_error.ts";
import type { SiteDeps } from "../site/context.ts";
import { openKv } from "../platform/database/kv.ts";

type Given = Omit<
  SiteDeps,
  "sessions" | "passwords" | "throttle" | "oauth" | "toApiError" | "document"
>;

/** What the site needs beside the gateway's own parts: sessions, passwords, and a count of attempts. */
export async function openSite(
  given: Given,
  dataDir: string,
): Promise<{ deps: SiteDeps } & AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  const { sql, kind } = given.database;
  const where = given.configStore.current.storage.sessions;
  if (where === "kv" && kind === "server") {
    given.log.info("sessions are kept on this node: set storage.sessions to postgres for several");
  }
  const store = where === "postgres"
    ? postgresSessions(sql)
    : kvSessions(opened.adopt(await openSessionFile(given, dataDir), (kv) => kv.close()));
  opened.use(startExpiryLoop(sql));
  const deps: SiteDeps = {
    ...given,
    sessions: opened.use(new Sessions(store, systemClock)),
    passwords: opened.use(new Passwords()),
    throttle: opened.use(new Throttle(sql)),
    oauth: new OAuth(),
    toApiError,
    document: (config: Config) => openapi(config),
  };
  const parts = opened.move();
  return { deps, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

function openSessionFile({ log }: Given, dataDir: string): Promise<Deno.Kv> {
  const path = join(dataDir, "kv.sqlite");
  return openKv(path, log);
}
