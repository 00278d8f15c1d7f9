import { startupBanner } from "./app/banner.ts";
import { WorkerPool } from "./app/worker_pool.ts";
import { readSettings, type Settings } from "./app/environment.ts";
import { formatStartupError } from "./app/format_startup_error.ts";
import { openGateway } from "./app/open_gateway.ts";
import { logUnhandledRejections } from "./app/log_unhandled_rejections.ts";
import { STOP_MS } from "./app/stop_time.ts";
import { type CollectedMetrics, keepCountersOfExited } from "./platform/telemetry/merge_metrics.ts";
import { type Log, openLog } from "./platform/telemetry/log.ts";
import { abortProcess, startWatchdog } from "./app/watchdog.ts";
import { withTimeout } from "./lib/timers.ts";

/** Starts the gateway, prints where it listens, and stops it at a signal. */
async function main(): Promise<void> {
  const environment = Deno.env.toObject();
  const settings = readSettings(environment);
  if (settings.workers > 1) return await runWorkers(settings);
  const log = openLog({ level: settings.logLevel, format: settings.logFormat });
  const signalled = waitForSignal();
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
      log.error("embedded database hangs, process ends");
      log.flush();
      abortProcess();
    },
  });
  const gateway = await Promise.race([opening, signalled]);
  // A signal during the start ends the process at once: nothing was served yet.
  if (typeof gateway === "string") return stop(log, gateway, () => Promise.resolve());
  log.flush();
  console.log(await startupBanner(gateway, settings));
  await stop(log, await signalled, () => gateway[Symbol.asyncDispose]());
}

async function stop(log: Log, signal: Deno.Signal, close: () => PromiseLike<void>): Promise<never> {
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

/** Runs several threads, each with a gateway of its own on the same port. */
async function runWorkers(settings: Settings): Promise<void> {
  const log = openLog({ level: settings.logLevel, format: settings.logFormat });
  const signalled = waitForSignal();
  const pool = await WorkerPool.start({
    size: settings.workers,
    spawn: (name) =>
      new Worker(new URL("./app/worker.ts", import.meta.url), { type: "module", name }),
    log,
    keepCounters: (metrics) => keepCountersOfExited(metrics as CollectedMetrics[]),
    blockedMs: settings.watchdogSeconds * 1000,
  });
  console.log(pool.banner);
  const blocked = pool.blocked.then(() => "blocked" as const);
  const signal = await Promise.race([signalled, blocked]);
  log.info("stopping", { signal });
  await pool[Symbol.asyncDispose]();
  log.info("stopped");
  log.flush();
  if (signal === "blocked") abortProcess();
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
