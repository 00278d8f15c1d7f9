/** One thread of `WORKERS=n`: a gateway that starts and stops when crew.ts says so. */
import { startupBanner } from "./banner.ts";
import type { WorkerCommand, WorkerReport } from "./worker_pool.ts";
import { readSettings } from "./environment.ts";
import { formatStartupError } from "./format_startup_error.ts";
import { type Gateway, openGateway } from "./open_gateway.ts";
import type { CollectedMetrics } from "../platform/telemetry/merge_metrics.ts";
import { Pulse } from "./pulse.ts";
import { openLog } from "../platform/telemetry/log.ts";
import { withTimeout } from "../lib/timers.ts";

const scope = self as unknown as {
  name: string;
  onmessage: ((event: MessageEvent<WorkerCommand>) => void) | null;
  postMessage(report: WorkerReport): void;
};
let opening: Promise<Gateway | null> = Promise.resolve(null);

/** The crew answers within a second; a thread that waits longer speaks for itself. */
const CREW_MS = 2_000;
let hearing: PromiseWithResolvers<CollectedMetrics[]> | null = null;

/** What all threads have counted. Those who ask at once share an answer. */
async function countAll(own: CollectedMetrics): Promise<readonly CollectedMetrics[]> {
  hearing ??= Promise.withResolvers();
  scope.postMessage({ kind: "count", count: own, ask: true });
  return await withTimeout(hearing.promise, CREW_MS, () => [own]);
}

async function tell(): Promise<void> {
  const gateway = await opening;
  if (gateway === null) return;
  scope.postMessage({ kind: "count", count: await gateway.count(), ask: false });
}

async function start(port: number | null, memory: SharedArrayBuffer): Promise<Gateway | null> {
  try {
    const pulse = new Pulse(memory);
    const environment = Deno.env.toObject();
    const settings = readSettings(environment);
    const log = openLog({ level: settings.logLevel, format: settings.logFormat });
    const options = {
      ...settings,
      log,
      environment,
      port: port ?? settings.port,
      countAll,
      onRequest: pulse.begin,
    };
    const gateway = await openGateway(options);
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
      opening = start(data.port, data.pulse);
      break;
    case "tell":
      void tell();
      break;
    case "told":
      hearing?.resolve(data.all as CollectedMetrics[]);
      hearing = null;
      break;
    case "stop":
      void stop();
  }
};
