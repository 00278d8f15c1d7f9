/** One thread of `WORKERS=n`: a gateway that starts and stops at the commands of worker_pool.ts. */
import { withTimeout } from "../lib/timers.ts";
import { openLog } from "../platform/telemetry/log.ts";
import type { CollectedMetrics } from "../platform/telemetry/merge_metrics.ts";
import { startupBanner } from "./banner.ts";
import { readSettings } from "./environment.ts";
import { formatStartupError } from "./format_startup_error.ts";
import { Heartbeat } from "./heartbeat.ts";
import { type Gateway, openGateway } from "./open_gateway.ts";
import type { WorkerCommand, WorkerReport } from "./worker_pool.ts";

const scope = self as unknown as {
  name: string;
  onmessage: ((event: MessageEvent<WorkerCommand>) => void) | null;
  postMessage(report: WorkerReport): void;
};
let opening: Promise<Gateway | null> = Promise.resolve(null);

/** The pool answers within a second; after this time a thread answers with its own metrics alone. */
const POOL_MS = 2_000;
let collecting: PromiseWithResolvers<CollectedMetrics[]> | null = null;

/** The metrics of all threads. Requests at the same time share an answer. */
async function collectAll(own: CollectedMetrics): Promise<readonly CollectedMetrics[]> {
  collecting ??= Promise.withResolvers();
  scope.postMessage({ kind: "metrics", metrics: own, wantsAll: true });
  return await withTimeout(collecting.promise, POOL_MS, () => [own]);
}

async function sendMetrics(): Promise<void> {
  const gateway = await opening;
  if (gateway === null) return;
  const metrics = await gateway.collectMetrics();
  scope.postMessage({ kind: "metrics", metrics, wantsAll: false });
}

async function start(port: number | null, memory: SharedArrayBuffer): Promise<Gateway | null> {
  try {
    const heartbeat = new Heartbeat(memory);
    const environment = Deno.env.toObject();
    const settings = readSettings(environment);
    const log = openLog({ level: settings.logLevel, format: settings.logFormat });
    const gateway = await openGateway({
      ...settings,
      log,
      environment,
      port: port ?? settings.port,
      collectAll,
      onRequest: heartbeat.begin,
    });
    scope.postMessage({
      kind: "ready",
      port: Number(new URL(gateway.address).port),
      banner: await startupBanner(gateway, settings),
    });
    return gateway;
  } catch (error) {
    scope.postMessage({ kind: "failed", reason: formatStartupError(error) });
    return null;
  }
}

async function stop(): Promise<void> {
  await (await opening)?.[Symbol.asyncDispose]();
  scope.postMessage({ kind: "ended" });
}

scope.onmessage = ({ data }) => {
  switch (data.kind) {
    case "start":
      opening = start(data.port, data.heartbeat);
      break;
    case "collect":
      void sendMetrics();
      break;
    case "collected":
      collecting?.resolve(data.all as CollectedMetrics[]);
      collecting = null;
      break;
    case "stop":
      void stop();
  }
};
