import type { RequestHandler } from "../http/request_handler.ts";
import type { Settings } from "./environment.ts";
import type { Log } from "../platform/telemetry/log.ts";
import { withTimeout } from "../lib/timers.ts";

const DRAIN_MS = 20_000;

export function startServer(
  requestHandler: RequestHandler,
  { host, port, workers }: Pick<Settings, "host" | "port" | "workers">,
): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({
    hostname: host,
    port,
    reusePort: workers > 1,
    onListen() {},
    handler: requestHandler.handle,
  });
}

/** Stops accepting and waits for what runs, for so long and no longer. */
export async function stopServing(
  requestHandler: RequestHandler,
  server: Deno.HttpServer,
  log: Log,
): Promise<void> {
  requestHandler.drain();
  await withTimeout(server.shutdown(), DRAIN_MS, () => {
    log.warn("requests were still running at shutdown", { in_flight: requestHandler.inFlight });
  });
}
