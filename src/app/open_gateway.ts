import { join } from "node:path";
import { Adapters } from "../../providers/adapters.ts";
import type { Simulator } from "../../providers/simulator/simulator.ts";
import { ApiKeyCache } from "../domain/accounts/api_key_cache.ts";
import { listenAddress, listensEverywhere } from "./listen_address.ts";
import { findAdminToken } from "./admin_token.ts";
import { hideSecrets } from "./hidden_secrets.ts";
import { findHostId } from "./host_id.ts";
import { ConfigStore } from "../platform/config/config_store.ts";
import type { Config } from "../platform/config/config.ts";
import { watchConfigFile } from "../platform/config/watch.ts";
import type { Settings } from "./environment.ts";
import { settingsNeedingRestart, validateEnvironment } from "./validate_environment.ts";
import { type OpenFiles, openFiles } from "../domain/files/open_files.ts";
import { type AppDeps, buildApp } from "../http/app.ts";
import { RequestHandler, type RequestHandlerDeps } from "../http/request_handler.ts";
import { TaskWaits, type WaitLimits } from "../http/task_waits.ts";
import { dramaTaskHandlers } from "../workflows/dramas/drama_task_handlers.ts";
import { buildCapabilities } from "./build_capabilities.ts";
import { openChat } from "./open_chat.ts";
import { openQueue } from "./open_queue.ts";
import { openSite } from "./open_site.ts";
import { openStorage } from "./open_storage.ts";
import { openTasks } from "./open_tasks.ts";
import { openWebhooks } from "./open_webhooks.ts";
import { PublicHosts } from "../platform/outbound/public_hosts.ts";
import type { Resolve } from "../platform/outbound/resolve.ts";
import { Outbound } from "../platform/outbound/safe_fetch.ts";
import type { Queue } from "../platform/queue/queue.ts";
import { currencyGuard } from "../domain/ledger/currency.ts";
import { openLedger } from "../domain/ledger/ledger.ts";
import { storePlans } from "../domain/ledger/plans.ts";
import { watchTime } from "./watch_time.ts";
import { startSweepLoop } from "../domain/ledger/sweep_loop.ts";
import { RequestBodies } from "../domain/limits/request_bodies.ts";
import { RateLimiter } from "../domain/limits/rate_limit.ts";
import { SharedRateLimiter } from "../domain/limits/shared_rate.ts";
import { startServer, stopServing } from "./serve.ts";
import type { GatewayTiming } from "./timing.ts";
import { checkConfig, checkDatabase, checkQueue } from "./readiness.ts";
import { buildSite } from "../site/site.tsx";
import { type Cluster, joinCluster } from "../platform/cluster/cluster.ts";
import type { Database } from "../platform/database/database.ts";
import { StorageProbe } from "../platform/database/storage_probe.ts";
import { ConfigVersions } from "../workflows/tasks/config_versions.ts";
import { countTasks } from "../workflows/tasks/operate_tasks.ts";
import { TASK } from "../workflows/tasks/task.ts";
import type { Log } from "../platform/telemetry/log.ts";
import { type MetricFacts, type Metrics, openMetrics } from "../platform/telemetry/metrics.ts";
import { openTaskMetrics } from "../platform/telemetry/task_metrics.ts";
import { DELIVERY } from "../domain/webhooks/enqueue_event.ts";
import { watchExceeded } from "./watch_exceeded.ts";

export interface GatewayOptions extends Settings {
  log: Log;
  environment: Record<string, string | undefined>;
  /** Of a thread among others: what all of them have counted, for `/metrics`. */
  countAll?: MetricFacts["countAll"];
  /** Told of every request as it begins. */
  onRequest?: RequestHandlerDeps["onRequest"];
  /** Called when only the end of this process helps the embedded database. */
  onStuck?: () => void;
  /** Differs from the usual only in tests. */
  timing?: GatewayTiming;
  /** Resolves the hosts of images that requests link to; the system does where it is left out. */
  resolve?: Resolve;
  /** Answers as the adapter `simulator`; one of its own where it is left out. */
  simulator?: Simulator;
  /** How many requests may wait for tasks at once. */
  taskWaits?: Partial<WaitLimits>;
}

/** An open gateway. Disposing it stops accepting, finishes what runs, and closes in reverse order. */
export interface Gateway extends AsyncDisposable {
  readonly address: string;
  readonly database: Database;
  readonly cluster: Cluster;
  readonly configStore: ConfigStore;
  readonly adminToken: string;
  readonly files: OpenFiles;
  /** Stops taking requests; `asyncDispose` follows. */
  drain(): void;
  /** Does what is due, until nothing is or for so long: for a process that is woken for just that. */
  catchUp(patienceMs: number): Promise<void>;
  /** What this one has counted, for another that answers for all. */
  readonly count: Metrics["collect"];
}

/**
 * The one composition root: opens every part in order and hands each what it needs. It listens before
 * the database is there, so that an orchestrator sees a living process that says what it waits for.
 */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { log } = options;
  await using opened = new AsyncDisposableStack();
  const adapters = new Adapters(options.simulator);
  const configStore = await ConfigStore.open({
    file: options.configFile,
    environment: hideSecrets(options),
    capabilities: buildCapabilities(adapters),
    log,
  });
  validateEnvironment(options, configStore.current);
  const metrics = openMetrics({
    version: () => configStore.current.version,
    inFlight: () => requestHandler.inFlight,
    countAll: options.countAll,
  });
  const bodies = opened.use(
    new RequestBodies({ threads: options.workers, pace: options.timing?.body }),
  );
  let database: Database | null = null;
  let cluster: Cluster | null = null;
  let queue: Queue | null = null;
  let probe: StorageProbe | null = null;
  const requestHandler: RequestHandler = new RequestHandler({
    configStore,
    log,
    metrics,
    bodies,
    onRequest: options.onRequest,
    onStorageTrouble: (error) => probe?.recordFailure(error),
    readiness: async () => ({
      database: await checkDatabase(database, probe),
      queue: await checkQueue(queue),
      config: checkConfig(configStore, cluster),
    }),
  });
  const server = startServer(requestHandler, options);
  const address = listenAddress(server.addr);
  if (listensEverywhere(server.addr) && configStore.current.service.baseUrl === null) {
    log.warn("service.base_url is not set: results get addresses for this machine", { address });
  }
  let stopping: Promise<void> | undefined;
  const stop = () => stopping ??= stopServing(requestHandler, server, log);
  opened.defer(stop);

  const { dataDir } = options;
  const { patiently, ...storage } = await openStorage(options);
  const { sql } = database = opened.use(storage.database);
  opened.use(watchTime(database, log, options.timing?.clock));
  const adminToken = await patiently(() => findAdminToken(options.adminToken, dataDir));
  log.hide([adminToken]);
  const hostId = findHostId(dataDir);
  cluster = opened.use(
    await joinCluster(database, {
      configVersion: () => configStore.current.version,
      currency: () => configStore.current.service.currency,
      hostId,
      queue: configStore.current.storage.queue,
      log,
      patiently,
    }),
  );
  probe = new StorageProbe(database.sql, {
    row: database.kind === "embedded" ? "readiness" : cluster.nodeId,
    log,
  });
  await patiently(() => configStore.guard(currencyGuard(sql, cluster.nodeId)));
  const apiKeys = opened.use(new ApiKeyCache(database.sql, cluster));
  const limiter = database.kind === "embedded" ? new RateLimiter() : opened.use(
    new SharedRateLimiter(database.sql, {
      nodes: () => cluster.peers.length + 1,
      log,
    }),
  );
  const onExceeded = watchExceeded({ database, cluster, metrics, log });
  const ledger = openLedger({
    database,
    money: () => configStore.current.service,
    onExceeded,
    onOrphanedHold: (id, error) =>
      log.warn("a hold is left to the sweeper", { request_id: id, error }),
    pending: {
      folder: options.onDeploy ? undefined : join(options.dataDir, "settlements"),
      log,
    },
  });
  opened.use(ledger.pending).replay();
  opened.use(
    startSweepLoop(database.sql, {
      renew: ledger.renew,
      onExceeded,
      log,
    }),
  );
  const openOwnFiles = () =>
    openFiles({
      sql,
      dataDir,
      storage: () => configStore.current.storage,
      address: () => configStore.current.service.baseUrl?.replace(/\/v1$/, "") ?? address,
      log,
    });
  const files = opened.use(await patiently(openOwnFiles));
  const imageHosts = new PublicHosts({ resolve: options.resolve });
  const { admission, upstreams, chat, http1 } = opened.use(
    openChat({ adapters, ledger, files, imageHosts, metrics, log }, options),
  );
  const tellPlans = (config: Config) => storePlans(sql, config.plans.values());
  await patiently(() => tellPlans(configStore.current));
  const outbound = opened.use(new Outbound());
  const taskMetrics = openTaskMetrics(metrics.registry, {
    count: () => countTasks(sql).catch(() => null),
    depth: () => queue?.depth() ?? [],
  });
  const queueParts = {
    ...options,
    kind: configStore.current.storage.queue,
    database,
    cluster,
    home: hostId,
    onStep: (kind: string, ms: number, outcome: string) =>
      taskMetrics.steps.observe({ kind, outcome }, ms / 1000),
  };
  queue = await patiently(() => openQueue(queueParts));
  const { worker: deliveries, webhooks, settled } = opened.use(
    openWebhooks(
      { database, configStore, queue, outbound, files, metrics, log },
      options.secretsKey,
    ),
  );
  const configs = opened.use(
    await ConfigVersions.open({ sql, configStore, log, timing: options.timing?.configs }),
  );
  const { tasks, worker: steps } = openTasks({
    database,
    configStore,
    configs,
    ledger,
    queue,
    files,
    outbound,
    imageHosts,
    admission,
    download: options.timing?.download,
    http1,
    timing: options.timing?.tasks,
    onEnd: (status) => taskMetrics.ended.inc({ status }),
    log,
  }, dramaTaskHandlers(upstreams));
  opened.use(queue);
  const siteParts = { database, cluster, configStore, log, upstreams, tasks, webhooks };
  const site = opened.use(
    await patiently(() =>
      openSite({ ...siteParts, callApi: requestHandler.callAsAccount }, dataDir)
    ),
  );
  const deps: Omit<AppDeps, "site"> = {
    apiKeys,
    limiter,
    database,
    cluster,
    chat,
    upstreams,
    files,
    configStore,
    metrics,
    adminToken,
    webhooks,
    tasks,
    waits: new TaskWaits(options.taskWaits),
    stopSignal: (c) => AbortSignal.any([c.req.raw.signal, requestHandler.drainSignal]),
    sessions: site.deps.sessions,
    passwords: site.deps.passwords,
  };
  const serve = (config: Config) =>
    requestHandler.serve(config, buildApp(config, { ...deps, site: buildSite(config, site.deps) }));
  configStore.onChange((config) => {
    tellPlans(config).catch((error) => log.error("cannot tell the ledger of the plans", { error }));
  });
  const started = configStore.current.storage;
  configStore.onChange(({ storage }) => {
    const keys = settingsNeedingRestart(started, storage);
    if (keys.length > 0) log.warn("a change takes effect at the next start", { keys });
  });
  configStore.onChange(serve);
  serve(configStore.current);
  queue.start(new Map([[DELIVERY, deliveries], [TASK, steps]]));
  // What is deployed does not change under a running instance.
  if (!options.onDeploy) opened.use(watchConfigFile(options.configFile, configStore));

  const parts = opened.move();
  return {
    address,
    database,
    cluster,
    configStore,
    adminToken,
    files,
    drain: () => requestHandler.drain(),
    count: metrics.collect,
    async catchUp(patienceMs) {
      const until = performance.now() + patienceMs;
      await queue!.catchUp(patienceMs);
      await settled(Math.max(0, until - performance.now()));
    },
    async [Symbol.asyncDispose]() {
      // The server and the queue first: everything else must be there until the last answer is out.
      await Promise.all([stop(), queue![Symbol.asyncDispose]()]);
      await parts.disposeAsync();
      log.flush();
    },
  };
}
