/**
 * Entry point on Deno Deploy: `DATABASE_URL` and `ADMIN_TOKEN` from the environment, queue and sessions in
 * Postgres, files in a bucket, nothing on disk.
 */
import { readSettings } from "./app/environment.ts";
import { formatStartupError } from "./app/format_startup_error.ts";
import { type Gateway, openGateway } from "./app/open_gateway.ts";
import { logUnhandledRejections } from "./app/log_unhandled_rejections.ts";
import { openLog } from "./platform/telemetry/log.ts";

/** Shorter than the minute to the next call. */
const CATCH_UP_MS = 50_000;

const opening = Promise.withResolvers<Gateway>();
opening.promise.catch(() => {}); // told below

// An instance that nobody calls is put to sleep, and its timers with it: the platform's clock wakes one for
// what is due. Before anything is awaited, since the schedule is read off the module's first steps.
if (typeof Deno.cron === "function") {
  Deno.cron("do what is due", "* * * * *", async () => {
    await (await opening.promise).catchUp(CATCH_UP_MS);
  });
}

try {
  const environment = Deno.env.toObject();
  const settings = readSettings({ ...environment, DENO_DEPLOY: environment.DENO_DEPLOY ?? "1" });
  const log = openLog({ level: settings.logLevel, format: settings.logFormat });
  logUnhandledRejections(log);
  opening.resolve(await openGateway({ ...settings, log, environment }));
  log.info("started", { declaration: settings.configFile });
  log.flush();
} catch (error) {
  console.error(formatStartupError(error));
  Deno.exit(1);
}
