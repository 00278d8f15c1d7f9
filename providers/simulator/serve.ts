/**
 * The simulator as a server of its own, for benchmarks and rehearsals:
 *
 *     deno run -A providers/simulator/serve.ts --port 0 --simulate "pace=20ms"
 *
 * With `--closes` the order `accept_and_close` closes the connection without a byte of an answer; it costs a
 * relay in front of the server. Without it half an answer is the nearest the server can come to none.
 *
 * Prints the base URL to declare, and nothing else. `GET /counters` says how requests went, `GET /_simulator/submissions`
 * how often each job was handed in.
 */
import { parseArgs } from "node:util";
import { NotSent } from "../../src/upstream/adapter.ts";
import { openFront } from "./front.ts";
import { BrokenConnection, NoAnswer } from "./play.ts";
import { openSimulator, type Simulator } from "./simulator.ts";

export interface SimulatorServer extends AsyncDisposable {
  /** With `/v1`, as a client or a declaration wants it. */
  readonly baseUrl: string;
  readonly counters: Simulator["counters"];
  readonly submissions: Simulator["submissions"];
}

export function serveSimulator(
  { hostname = "127.0.0.1", port = 0, orders = "", closes = false }: {
    hostname?: string;
    port?: number;
    orders?: string;
    /** Connections can be closed without an answer. */
    closes?: boolean;
  } = {},
): SimulatorServer {
  const simulator = openSimulator({ orders });
  const gone = new AbortController();
  const server = Deno.serve({
    hostname: closes ? "127.0.0.1" : hostname,
    port: closes ? 0 : port,
    signal: gone.signal,
    onListen() {},
    onError: breakOff,
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
      if (error instanceof NoAnswer) front?.close((remoteAddr as Deno.NetAddr).port);
      throw error;
    }
  });
  const front = closes ? openFront({ hostname, port }, server.addr.port) : null;
  return {
    baseUrl: `http://${hostname}:${(front ?? server.addr).port}/v1`,
    counters: simulator.counters,
    submissions: simulator.submissions,
    async [Symbol.asyncDispose]() {
      // Streams that never end would keep a polite shutdown waiting.
      await front?.[Symbol.asyncDispose]();
      gone.abort();
      await server.finished;
    },
  };
}

/** Told of requests that fail and of bodies that break. The nearest it can come to no answer is half of one. */
function breakOff(error: unknown): Response {
  const isMeant = error instanceof BrokenConnection || error instanceof NotSent ||
    error instanceof Error && error.name === "AbortError";
  if (!isMeant) console.error(error);
  const broken = new BrokenConnection("no answer");
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
    orders: values.simulate,
    closes: values.closes,
  });
  console.log(server.baseUrl);
}
