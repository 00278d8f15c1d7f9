import { startupBanner } from "./app/banner.ts";
import { WorkerPool } from "./app/worker_pool.ts";
import { readSettings, type Settings } from "./app/environment.ts";
import { formatStartupError } from "./app/format_startup_error.ts";
import { openGateway } from "./app/open_gateway.ts";
import { logUnhandledRejections } from "./app/log_unhandled_rejections.ts";
import { type CollectedMetrics, keepCountersOfExited } from "./platform/telemetry/merge_metrics.ts";
import { type Log, openLog } from "./platform/telemetry/log.ts";
import { endBlocked, startWatchdog } from "./app/watchdog.ts";
import { withTimeout } from "./lib/timers.ts";

/** Starts the gateway, says where it is, and ends it well when asked to. */
async function main(): Promise<void> {
  const environment = Deno.env.toObject();
  const settings = readSettings(environment);
  if (settings.workers > 1) return await runCrew(settings);
  const log = openLog({ level: settings.logLevel, format: settings.logFormat });
  const asked = waitForSignal();
  const { logLevel: level, logFormat: format } = settings;
  const blockedMs = settings.watchdogSeconds * 1000;
  const watchdog = blockedMs === 0 ? null : startWatchdog({ blockedMs, level, format });
  logUnhandledRejections(log);
  const opening = openGateway({
    ...settings,
    log,
    environment,
    onRequest: watchdog?.begin,
    onStuck() {
      log.error("the embedded database is in an endless loop: the process ends itself");
      log.flush();
      endBlocked();
    },
  });
  const gateway = await Promise.race([opening, asked]);
  // Whatever the start waits for, it must not keep the process from ending: nothing was served yet.
  if (typeof gateway === "string") return end(log, gateway, () => Promise.resolve());
  log.flush();
  console.log(await startupBanner(gateway, settings));
  await end(log, await asked, () => gateway[Symbol.asyncDispose]());
}

/** Longer than requests under way may take, shorter than supervisors usually wait before they kill. */
const STOP_MS = 25_000;

async function end(log: Log, signal: Deno.Signal, close: () => PromiseLike<void>): Promise<never> {
  log.info("stopping", { signal });
  await withTimeout(close(), STOP_MS, () => {
    log.error("stop took too long, exiting", { seconds: STOP_MS / 1000 });
    log.flush();
    Deno.exit(1);
  });
  log.info("stopped");
  log.flush();
  // The embedded database's worker may still hold a timer; everything that matters is closed.
  Deno.exit(0);
}

/** The same with several threads, each a gateway of its own on the one port. */
async function runCrew(settings: Settings): Promise<void> {
  const log = openLog({ level: settings.logLevel, format: settings.logFormat });
  const asked = waitForSignal();
  const pool = await WorkerPool.start({
    size: settings.workers,
    hire: (name) =>
      new Worker(new URL("./app/worker.ts", import.meta.url), { type: "module", name }),
    log,
    keepCounts: (counts) => keepCountersOfExited(counts as CollectedMetrics[]),
    blockedMs: settings.watchdogSeconds * 1000,
  });
  console.log(pool.banner);
  const blocked = pool.blocked.then(() => "blocked" as const);
  const signal = await Promise.race([asked, blocked]);
  log.info("stopping", { signal });
  await pool[Symbol.asyncDispose]();
  log.info("stopped");
  log.flush();
  if (signal === "blocked") endBlocked();
  Deno.exit(0);
}

/** A terminal sends its signal to the whole group and a wrapper passes it on: the second one is an echo. */
function waitForSignal(): Promise<Deno.Signal> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      Deno.addSignalListener(signal, () => resolve(signal));
    }
  });
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(formatStartupError(error));
    Deno.exit(1);
  }
}
