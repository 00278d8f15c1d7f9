import type { Simulator } from "../../providers/simulator/simulator.ts";
import type { OpenFiles } from "../domain/files/open_files.ts";
import type { RequestHandlerDeps } from "../http/request_handler.ts";
import type { WaitLimits } from "../http/task_waits.ts";
import type { Cluster } from "../platform/cluster/cluster.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Database } from "../platform/database/database.ts";
import type { Resolve } from "../platform/outbound/resolve.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { MetricFacts, Metrics } from "../platform/telemetry/metrics.ts";
import type { Settings } from "./environment.ts";
import type { GatewayTiming } from "./timing.ts";

export interface GatewayOptions extends Settings {
  log: Log;
  environment: Record<string, string | undefined>;
  /** In one of several threads: the metrics of all threads, for `/metrics`. */
  collectAll?: MetricFacts["collectAll"];
  /** Called at the start of every request. */
  onRequest?: RequestHandlerDeps["onRequest"];
  /** Called when the embedded database hangs and only the end of this process helps. */
  onStuck?: () => void;
  /** Tests set shorter times. */
  timing?: GatewayTiming;
  /** Resolves the hosts of images that requests link to; left out: the system does. */
  resolve?: Resolve;
  /** Answers for the adapter `simulator`; left out: the gateway has one of its own. */
  simulator?: Simulator;
  /** How many requests may wait for tasks at once. */
  taskWaits?: Partial<WaitLimits>;
}

/** An open gateway. Disposing it stops accepting requests, finishes what runs, and closes every part. */
export interface Gateway extends AsyncDisposable {
  readonly address: string;
  readonly database: Database;
  readonly cluster: Cluster;
  readonly configStore: ConfigStore;
  readonly adminToken: string;
  readonly files: OpenFiles;
  /** Stops taking requests; `asyncDispose` follows. */
  drain(): void;
  /** Runs due jobs until there are none, for `maxMs` at most: for a process that is woken for just that. */
  catchUp(maxMs: number): Promise<void>;
  /** The metrics of this thread, for another one that answers `/metrics` for all. */
  readonly collectMetrics: Metrics["collect"];
}
