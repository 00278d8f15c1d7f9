/**
 * Stands in for a gateway in tests of the crew: serves its name, fails when it is called at /fail, and at
 * /count says what the crew has counted: each thread its name. After /hush it is deaf to questions, and at
 * /block it never comes back.
 */
import type { WorkerCommand, WorkerReport } from "../../src/app/worker_pool.ts";
import { Pulse } from "../../src/app/pulse.ts";

const scope = self as unknown as {
  name: string;
  onmessage: ((event: MessageEvent<WorkerCommand>) => void) | null;
  postMessage(report: WorkerReport): void;
};
let hearing: PromiseWithResolvers<unknown[]> | undefined;
let isDeaf = false;
let server: Deno.HttpServer<Deno.NetAddr> | undefined;

scope.onmessage = async ({ data }) => {
  if (data.kind === "stop") {
    await server?.shutdown();
    return scope.postMessage({ kind: "ended" });
  }
  if (data.kind === "told") return hearing?.resolve(data.all);
  if (data.kind === "tell") {
    if (!isDeaf) scope.postMessage({ kind: "count", count: scope.name, ask: false });
    return;
  }
  if (scope.name.includes("bad")) {
    return scope.postMessage({ kind: "failed", reason: "it is bad" });
  }
  const pulse = new Pulse(data.pulse, 20);
  server = Deno.serve(
    { hostname: "127.0.0.1", port: data.port ?? 0, reusePort: true, onListen() {} },
    async ({ url }) => {
      const { pathname } = new URL(url);
      pulse.begin("req_toy", "GET", pathname);
      if (pathname === "/block") { while (true); }
      if (pathname === "/hush") isDeaf = true;
      if (pathname === "/count") {
        hearing = Promise.withResolvers();
        scope.postMessage({ kind: "count", count: scope.name, ask: true });
        return Response.json((await hearing.promise).sort());
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
