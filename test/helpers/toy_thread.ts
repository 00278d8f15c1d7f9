/**
 * Stands in for a gateway in tests of the worker pool: serves its name, fails at /fail, and at /metrics answers with
 * the metrics of all threads: each has its name as metrics. After /mute it does not send metrics, and /block never
 * returns.
 */
import type { WorkerCommand, WorkerReport } from "../../src/app/worker_pool.ts";
import { Heartbeat } from "../../src/app/heartbeat.ts";

const scope = self as unknown as {
  name: string;
  onmessage: ((event: MessageEvent<WorkerCommand>) => void) | null;
  postMessage(report: WorkerReport): void;
};
let collecting: PromiseWithResolvers<unknown[]> | undefined;
let isMute = false;
let server: Deno.HttpServer<Deno.NetAddr> | undefined;

scope.onmessage = async ({ data }) => {
  if (data.kind === "stop") {
    await server?.shutdown();
    return scope.postMessage({ kind: "ended" });
  }
  if (data.kind === "collected") return collecting?.resolve(data.all);
  if (data.kind === "collect") {
    if (!isMute) scope.postMessage({ kind: "metrics", metrics: scope.name, wantsAll: false });
    return;
  }
  if (scope.name.includes("bad")) {
    return scope.postMessage({ kind: "failed", reason: "it is bad" });
  }
  const heartbeat = new Heartbeat(data.heartbeat, 20);
  server = Deno.serve(
    { hostname: "127.0.0.1", port: data.port ?? 0, reusePort: true, onListen() {} },
    async ({ url }) => {
      const { pathname } = new URL(url);
      heartbeat.begin("req_toy", "GET", pathname);
      if (pathname === "/block") { while (true); }
      if (pathname === "/mute") isMute = true;
      if (pathname === "/metrics") {
        collecting = Promise.withResolvers();
        scope.postMessage({ kind: "metrics", metrics: scope.name, wantsAll: true });
        return Response.json((await collecting.promise).sort());
      }
      if (pathname === "/fail") {
        setTimeout(() => {
          throw new Error("as asked");
        });
      }
      return new Response(scope.name, { headers: { connection: "close" } });
    },
  );
  scope.postMessage({ kind: "ready", port: server.addr.port, banner: String(server.addr.port) });
};
