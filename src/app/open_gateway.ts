import { Adapters } from "../../providers/adapters.ts";
import { buildApp } from "../http/app.ts";
import { ConfigStore } from "../platform/config/config_store.ts";
import { watchConfigFile } from "../platform/config/watch.ts";
import { buildSite } from "../site/site.tsx";
import { buildCapabilities } from "./build_capabilities.ts";
import type { Gateway, GatewayOptions } from "./gateway.ts";
import { hideSecrets } from "./hidden_secrets.ts";
import { openHttpServer } from "./open_http_server.ts";
import { openServices } from "./open_services.ts";
import { openStorage } from "./open_storage.ts";
import { validateEnvironment } from "./validate_environment.ts";

export type { Gateway, GatewayOptions } from "./gateway.ts";

/** The composition root: opens the server, the storage and the services, in this order, and connects them. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { log, configFile } = options;
  await using opened = new AsyncDisposableStack();
  const adapters = new Adapters(options.simulator);
  const configStore = await ConfigStore.open({
    file: configFile,
    environment: hideSecrets(options),
    capabilities: buildCapabilities(adapters),
    log,
  });
  validateEnvironment(options, configStore.current);
  const server = opened.use(openHttpServer(configStore, options));
  const { metrics, readiness } = server;
  const storage = opened.use(await openStorage({ configStore, metrics, readiness }, options));
  const services = opened.use(
    await openServices({ configStore, adapters, server, storage }, options),
  );
  const { database, cluster, queue, adminToken } = storage;
  server.serve((config) =>
    buildApp(config, { ...services.api, site: buildSite(config, services.site) })
  );
  if (options.isDrill) {
    log.warn("drill mode: no provider, webhook or task runs");
  } else queue.start(services.jobHandlers);
  // What is deployed does not change under a running instance.
  if (!options.onDeploy) opened.use(watchConfigFile(configFile, configStore));

  const parts = opened.move();
  return {
    address: server.address,
    database,
    cluster,
    configStore,
    adminToken,
    files: services.files,
    drain: () => server.requestHandler.drain(),
    collectMetrics: metrics.collect,
    async catchUp(maxMs) {
      const until = performance.now() + maxMs;
      await queue.catchUp(maxMs);
      await services.settled(Math.max(0, until - performance.now()));
    },
    /**
     * The one place that decides the order of closing:
     * 1. The server stops accepting and the queue stops taking jobs, at the same time. Both wait for what is under
     *    way, which needs every other part until its end.
     * 2. All parts, in the reverse order of their opening: a part may use those before it until it is closed.
     * 3. The log, which every part writes to.
     */
    async [Symbol.asyncDispose]() {
      await Promise.all([server.stop(), queue[Symbol.asyncDispose]()]);
      await parts.disposeAsync();
      log.flush();
    },
  };
}
