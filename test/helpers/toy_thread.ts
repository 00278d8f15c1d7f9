/** Stands in for a gateway in tests of the crew: serves its name, and fails when it is called at /fail. */
import type { Order, Report } from "../../src/crew.ts";

const scope = self as unknown as {
  name: string;
  onmessage: ((event: MessageEvent<Order>) => void) | null;
  postMessage(report: Report): void;
};
let server: Deno.HttpServer<Deno.NetAddr> | undefined;

scope.onmessage = async ({ data }) => {
  if (data.kind === "stop") {
    await server?.shutdown();
    return scope.postMessage({ kind: "ended" });
  }
  if (scope.name.includes("bad")) {
    return scope.postMessage({ kind: "failed", reason: "it is bad" });
  }
  server = Deno.serve(
    { hostname: "127.0.0.1", port: data.port ?? 0, reusePort: true, onListen() {} },
    ({ url }) => {
      if (new URL(url).pathname === "/fail") {
        setTimeout(() => {
          throw new Error("as asked");
        });
      }
      return new Response(scope.name, { headers: { connection: "close" } });
    },
  );
  scope.postMessage({ kind: "ready", port: server.addr.port, banner: String(server.addr.port) });
};
