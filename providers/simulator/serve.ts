/**
 * The simulator as a server, for benchmarks and tests:
 *
 *     deno run -A providers/simulator/serve.ts --port 0 --simulate "pace=20ms"
 *
 * With `--closes` the directive `accept_and_close` closes the connection without a byte of a response; this
 * needs a proxy in front of the server. Without it the response breaks off after its headers.
 *
 * Prints its base URL and nothing else. `GET /counters` returns how requests ended, `GET
 * /_simulator/submissions` how often each job was submitted.
 */
import { parseArgs } from "node:util";
import { NotSent } from "../../src/upstream/adapter.ts";
import { openClosingProxy } from "./closing_proxy.ts";
import { ConnectionBroken, ConnectionClosed } from "./send_response.ts";
import { openSimulator, type Simulator } from "./simulator.ts";

export interface SimulatorServer extends AsyncDisposable {
  /** With `/v1`, as clients and the configuration need it. */
  readonly baseUrl: string;
  readonly counters: Simulator["counters"];
  readonly submissions: Simulator["submissions"];
}

export function serveSimulator(
  { hostname = "127.0.0.1", port = 0, defaults = "", closes = false }: {
    hostname?: string;
    port?: number;
    /** Directives for every request. */
    defaults?: string;
    /** Whether connections can be closed without a response. */
    closes?: boolean;
  } = {},
): SimulatorServer {
  const simulator = openSimulator({ defaults });
  const shutdown = new AbortController();
  const server = Deno.serve({
    hostname: closes ? "127.0.0.1" : hostname,
    port: closes ? 0 : port,
    signal: shutdown.signal,
    onListen() {},
    onError: breakResponse,
  }, async (request, { remoteAddr }) => {
    if (request.method === "GET" && request.url.endsWith("/counters")) {
      return Response.json(simulator.counters);
    }
    if (request.method === "GET" && request.url.endsWith("/_simulator/submissions")) {
      return Response.json(Object.fromEntries(simulator.submissions));
    }
    try {
      return await simulator.serve(request);
    } catch (error) {
      if (error instanceof ConnectionClosed) proxy?.close((remoteAddr as Deno.NetAddr).port);
      throw error;
    }
  });
  const proxy = closes ? openClosingProxy({ hostname, port }, server.addr.port) : null;
  return {
    baseUrl: `http://${hostname}:${(proxy ?? server.addr).port}/v1`,
    counters: simulator.counters,
    submissions: simulator.submissions,
    async [Symbol.asyncDispose]() {
      await proxy?.[Symbol.asyncDispose]();
      // Aborts: a graceful shutdown would wait for streams that never end.
      shutdown.abort();
      await server.finished;
    },
  };
}

/** Handles requests and bodies that failed: a response whose body breaks at once. */
function breakResponse(error: unknown): Response {
  const isExpected = error instanceof ConnectionBroken || error instanceof NotSent ||
    error instanceof Error && error.name === "AbortError";
  if (!isExpected) console.error(error);
  const broken = new ConnectionBroken("The simulator sends no body.");
  return new Response(new ReadableStream({ pull: (controller) => controller.error(broken) }));
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      host: { type: "string", default: "127.0.0.1" },
      port: { type: "string", default: "8790" },
      simulate: { type: "string", default: "" },
      closes: { type: "boolean", default: false },
    },
  });
  const server = serveSimulator({
    hostname: values.host,
    port: Number(values.port),
    defaults: values.simulate,
    closes: values.closes,
  });
  console.log(server.baseUrl);
}
