import type { Adapters } from "../../providers/adapters.ts";
import { RunningStreams } from "../domain/accounts/running_streams.ts";
import { ApiKeyCache } from "../domain/accounts/api_key_cache.ts";
import { type OpenFiles, openFiles } from "../domain/files/open_files.ts";
import { storePlans } from "../domain/ledger/plans.ts";
import { RateLimiter } from "../domain/limits/rate_limit.ts";
import { SharedRateLimiter } from "../domain/limits/shared_rate.ts";
import { DELIVERY } from "../domain/webhooks/enqueue_event.ts";
import type { AppDeps } from "../http/app.ts";
import { openapi } from "../http/openapi.ts";
import { watchStop } from "../http/watch_stop.ts";
import { TaskWaits } from "../http/task_waits.ts";
import type { Config } from "../platform/config/config.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import { recordActivation } from "../platform/cluster/config_history.ts";
import { PublicHosts } from "../platform/outbound/public_hosts.ts";
import { Outbound } from "../platform/outbound/safe_fetch.ts";
import type { JobHandler } from "../platform/queue/queue.ts";
import { registerTaskGauges } from "../platform/telemetry/task_metrics.ts";
import type { SiteDeps } from "../site/context.ts";
import { taskHandlers } from "../workflows/dramas/task_handlers.ts";
import { ConfigVersions } from "../workflows/tasks/config_versions.ts";
import { countTasks } from "../workflows/tasks/operate_tasks.ts";
import { TASK } from "../workflows/tasks/task.ts";
import { countRequests } from "./count_requests.ts";
import type { GatewayOptions } from "./gateway.ts";
import { openAccounting } from "./open_accounting.ts";
import { openChat } from "./open_chat.ts";
import { openRequestLog } from "./open_request_log.ts";
import { backgroundHandler, openResponses } from "./open_responses.ts";
import { openRetention } from "./open_retention.ts";
import type { GatewayServer } from "./open_http_server.ts";
import { openSite } from "./open_site.ts";
import type { GatewayStorage } from "./open_storage.ts";
import { openTasks } from "./open_tasks.ts";
import { openWebhooks } from "./open_webhooks.ts";
import { settingsNeedingRestart } from "./validate_environment.ts";
import { nullIfUnavailable } from "../platform/database/storage_error.ts";

interface Deps {
  configStore: ConfigStore;
  adapters: Adapters;
  server: GatewayServer;
  storage: GatewayStorage;
}

/** What requests and jobs are served with. */
export interface GatewayServices extends AsyncDisposable {
  /** For the handlers of the API. */
  readonly api: Omit<AppDeps, "site">;
  /** For the pages. */
  readonly site: SiteDeps;
  readonly files: OpenFiles;
  /** Who does the queue's jobs, by kind. */
  readonly jobHandlers: ReadonlyMap<string, JobHandler>;
  /** Waits until no webhook attempt is under way, for `maxMs` at most. */
  settled(maxMs: number): Promise<void>;
}

/** Opens everything between the storage and the handlers, each part with what it needs of the parts before it. */
export async function openServices(deps: Deps, options: GatewayOptions): Promise<GatewayServices> {
  const { configStore, server: { metrics, tracer, requestHandler, address }, storage } = deps;
  const { database, cluster, queue, taskMetrics, withRetry } = storage;
  const { log, timing } = options;
  const core = { database, cluster, configStore, metrics, tracer, log };
  await using opened = new AsyncDisposableStack();
  const apiKeys = opened.use(new ApiKeyCache(database.sql, cluster));
  const streams = new RunningStreams(cluster);
  const limiter = database.kind === "embedded"
    ? new RateLimiter()
    : opened.use(openSharedLimiter(storage, options));
  const onEnd = countRequests(core, () => upstreams);
  const { requestLog, bodyLog } = opened.use(await openRequestLog({ ...core, onEnd }, options));
  const { retention } = opened.use(openRetention(core, options, timing?.retention));
  const { ledger } = opened.use(openAccounting({ ...core, requestLog }, options));
  const files = opened.use(await withRetry(() => openOwnFiles(deps, options, address)));
  const imageHosts = new PublicHosts({ resolve: options.resolve });
  const { admission, upstreams, chat, seals, http1 } = opened.use(
    openChat(
      { adapters: deps.adapters, ledger, limiter, streams, files, imageHosts, metrics, log },
      options,
    ),
  );
  const kept = openResponses({ ...core, seals }, options);
  await withRetry(() => storePlans(database.sql, configStore.current.plans.values()));
  const outbound = opened.use(new Outbound());
  gaugeTasks(deps);
  const { secretBox } = storage;
  const events = opened.use(openWebhooks({ ...core, secretBox, queue, outbound, files }));
  const configs = opened.use(await openConfigVersions(deps, options));
  const { tasks, worker: steps } = openTasks(
    {
      ...core,
      ...{ configs, ledger, queue, files, outbound, imageHosts, admission, http1 },
      handlers: taskHandlers(upstreams, backgroundHandler({ ...kept, upstreams, limiter })),
      onEnd: (status) => taskMetrics.ended.inc({ status }),
    },
    { download: timing?.download, timing: timing?.tasks },
  );
  const shared = {
    ...{ database, cluster, configStore, upstreams, tasks, requestLog, bodyLog, retention },
    webhooks: events.webhooks,
  };
  const { deps: site } = opened.use(
    await withRetry(() =>
      openSite({ ...shared, log, callApi: requestHandler.callAsAccount }, options)
    ),
  );
  await followConfig(deps, options);
  const { sessions, passwords } = site;
  const parts = opened.move();
  return {
    api: {
      ...{ ...shared, ...kept, apiKeys, limiter, chat, files, metrics, sessions, passwords },
      adminToken: storage.adminToken,
      metricsToken: options.metricsToken,
      waits: new TaskWaits(options.taskWaits),
      document: openapi,
      stopping: (c) => watchStop(c, streams, requestHandler.drainSignal),
    },
    site,
    files,
    jobHandlers: new Map([[DELIVERY, events.worker], [TASK, steps]]),
    settled: events.settled,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

function gaugeTasks({ server: { metrics }, storage: { database, queue } }: Deps): void {
  registerTaskGauges(metrics.registry, {
    count: () => countTasks(database.sql).catch(nullIfUnavailable),
    depth: () => queue.depth(),
  });
}

function openSharedLimiter({ database, cluster }: GatewayStorage, { log }: GatewayOptions) {
  return new SharedRateLimiter(database.sql, { nodes: () => cluster.peers.length + 1, log });
}

function openOwnFiles(
  { configStore, storage }: Deps,
  { dataDir, isDrill, log }: GatewayOptions,
  address: string,
): Promise<OpenFiles> {
  return openFiles({
    sql: storage.database.sql,
    dataDir,
    storage: () => configStore.current.storage,
    address: () => configStore.current.service.baseUrl?.replace(/\/v1$/, "") ?? address,
    keepsExpired: isDrill,
    log,
  });
}

function openConfigVersions(
  { configStore, storage: { database: { sql }, withRetry } }: Deps,
  { log, timing }: GatewayOptions,
): Promise<ConfigVersions> {
  return withRetry(() => ConfigVersions.open({ sql, configStore, log, timing: timing?.configs }));
}

/** Stores what is in force. After a reload also the new plans for the ledger; reports settings that need a restart. */
async function followConfig(
  { configStore, storage: { database, withRetry } }: Deps,
  { log }: GatewayOptions,
): Promise<void> {
  await withRetry(() => recordActivation(database.sql, configStore.current.version));
  const started = configStore.current.storage;
  configStore.onChange(({ version, plans, storage }: Config) => {
    recordActivation(database.sql, version).catch((error) =>
      log.warn("configuration history not stored", { version, error })
    );
    storePlans(database.sql, plans.values()).catch((error) =>
      log.error("plans not stored in the database", { error })
    );
    const keys = settingsNeedingRestart(started, storage);
    if (keys.length > 0) log.warn("changed settings take effect after a restart", { keys });
  });
}
