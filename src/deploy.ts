/**
 * Entry point on Deno Deploy: `DATABASE_URL` and `ADMIN_TOKEN` from the environment, queue and sessions in
 * Postgres, files in a bucket, nothing on disk.
 */
import { readSettings } from "./app/environment.ts";
import { formatStartupError } from "./app/format_startup_error.ts";
import { type Gateway, openGateway } from "./app/open_gateway.ts";
import { logUnhandledRejections } from "./app/log_unhandled_rejections.ts";
import { openLog } from "./platform/telemetry/log.ts";

/** Shorter than the minute until the next run. */
const CATCH_UP_MS = 50_000;

const opening = Promise.withResolvers<Gateway>();
opening.promise.catch(() => {}); // reported below

// The platform suspends an instance without requests, and its timers with it: its cron wakes one for due jobs.
// Registered before the first await, since the platform reads the schedule from the module's first steps.
if (typeof Deno.cron === "function") {
  Deno.cron("run due jobs", "* * * * *", async () => {
    await (await opening.promise).catchUp(CATCH_UP_MS);
  });
}

try {
  const environment = Deno.env.toObject();
  const settings = readSettings({ ...environment, DENO_DEPLOY: environment.DENO_DEPLOY ?? "1" });
  const log = openLog({ level: settings.logLevel, format: settings.logFormat });
  logUnhandledRejections(log);
  opening.resolve(await openGateway({ ...settings, log, environment }));
  log.info("started", { config: settings.configFile });
  log.flush();
} catch (error) {
  console.error(formatStartupError(error));
  Deno.exit(1);
}
