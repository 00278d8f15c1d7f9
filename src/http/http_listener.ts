import { periodic, rethrow, sleep } from "../lib/timers.ts";

/** How long a connection may wait for a request. */
export interface ConnectionTiming {
  /** From the connection to the end of its first header. */
  headerMs: number;
  /** From the end of a response to the end of the next header. Longer than proxies keep a connection. */
  idleMs: number;
}

const CONNECTION_TIMING: ConnectionTiming = { headerMs: 30_000, idleMs: 75_000 };

export interface HttpListener {
  readonly addr: Deno.NetAddr;
  /** Stops accepting, and resolves when the requests under way are answered. */
  shutdown(): Promise<void>;
}

export interface HttpListenerOptions {
  hostname: string;
  port: number;
  /** Several threads listen on the same port. */
  reusePort: boolean;
  handler: Deno.ServeHandler<Deno.NetAddr>;
  /** Connections cannot be accepted, most likely because the process has too many open files. Called once per outage. */
  onAcceptError(error: unknown): void;
  timing?: Partial<ConnectionTiming> | undefined;
}

/** As much of an AbortSignal as the runtime uses. */
interface CloseSignal {
  addEventListener(type: "abort", close: () => void): void;
}

type ServeConnection = (
  connection: Deno.TcpConn,
  signal: CloseSignal,
  handler: Deno.ServeHandler<Deno.NetAddr>,
  onError: (error: unknown) => Response,
  onListen: (scheme: string) => void,
) => Deno.HttpServer;

/** After a connection could not be accepted. */
const ACCEPT_PAUSE_MS = 100;
/** For connections that wait for a request when the listener is shut down. */
const SHUTDOWN_IDLE_MS = 500;

/**
 * Listens for HTTP. `Deno.serve` reads a header for as long as the client likes; this serves each connection by
 * itself, so that one whose header does not come can be closed. Not public in Deno: see docs/adr/0039.
 */
export function listenHttp(options: HttpListenerOptions): HttpListener {
  const serveConnection = findServeConnection();
  if (serveConnection === null) return serveWithoutLimits(options);
  return new ConnectionListener(options, serveConnection);
}

/** For runtimes without the internal function, and for platforms that limit connections themselves. */
export function serveWithoutLimits(
  { hostname, port, reusePort, handler }: HttpListenerOptions,
): HttpListener {
  return Deno.serve({ hostname, port, reusePort, onListen() {}, handler });
}

function findServeConnection(): ServeConnection | null {
  const { internal } = Deno as unknown as { internal?: symbol };
  if (internal === undefined) return null;
  const internals =
    (Deno as unknown as Record<symbol, Record<string, unknown> | undefined>)[internal];
  const found = internals?.serveHttpOnConnection;
  return typeof found === "function" ? found as ServeConnection : null;
}

class ConnectionListener implements HttpListener {
  readonly #listener: Deno.TcpListener;
  readonly #connections = new Set<Connection>();
  readonly #timing: ConnectionTiming;
  readonly #sweep: AsyncDisposable;
  readonly #accepting: Promise<void>;
  #isClosed = false;

  constructor(
    private readonly options: HttpListenerOptions,
    private readonly serveConnection: ServeConnection,
  ) {
    const { hostname, port, reusePort } = options;
    this.#timing = { ...CONNECTION_TIMING, ...options.timing };
    this.#listener = Deno.listen({ hostname, port, reusePort });
    const { headerMs, idleMs } = this.#timing;
    this.#sweep = periodic(() => this.#closeOverdue(), {
      intervalMs: Math.min(1_000, headerMs / 4, idleMs / 4),
      onError: rethrow,
    });
    this.#accepting = this.#accept();
  }

  get addr(): Deno.NetAddr {
    return this.#listener.addr as Deno.NetAddr;
  }

  async shutdown(): Promise<void> {
    this.#isClosed = true;
    this.#listener.close();
    await this.#accepting;
    this.#timing.headerMs = this.#timing.idleMs = SHUTDOWN_IDLE_MS;
    await Promise.all([...this.#connections].map((connection) => connection.shutdown()));
    await this.#sweep[Symbol.asyncDispose]();
  }

  async #accept(): Promise<void> {
    let isFailing = false;
    while (!this.#isClosed) {
      try {
        this.#serve(await this.#listener.accept());
        isFailing = false;
      } catch (error) {
        if (this.#isClosed) return;
        if (!isFailing) this.options.onAcceptError(error);
        isFailing = true;
        await sleep(ACCEPT_PAUSE_MS);
      }
    }
  }

  #serve(accepted: Deno.TcpConn): void {
    accepted.setNoDelay(true);
    const connection = new Connection(accepted, this.options.handler, this.serveConnection);
    this.#connections.add(connection);
    void connection.closed.then(() => this.#connections.delete(connection));
  }

  #closeOverdue(): void {
    const now = performance.now();
    for (const connection of this.#connections) connection.closeIfOverdue(now, this.#timing);
  }
}

class Connection {
  /** Resolves when the connection is closed, by either side. */
  readonly closed: Promise<void>;
  readonly #server: Deno.HttpServer;
  #close: (() => void) | null = null;
  #running = 0;
  #hasServed = false;
  #waitsSince = performance.now();

  constructor(
    accepted: Deno.TcpConn,
    handler: Deno.ServeHandler<Deno.NetAddr>,
    serveConnection: ServeConnection,
  ) {
    const handle: Deno.ServeHandler<Deno.NetAddr> = (request, info) => {
      this.#running++;
      // Rejects when the client disconnects: the request is over as well.
      info.completed.then(this.#complete, this.#complete);
      return handler(request, info);
    };
    // The handler answers errors itself; the runtime's own answer would print them.
    const onError = () => new Response(null, { status: 500 });
    const signal: CloseSignal = { addEventListener: (_, close) => this.#close = close };
    this.#server = serveConnection(accepted, signal, handle, onError, () => {});
    // Rejects with the error that ended the connection, which needs no handling. The runtime frees a connection
    // whose response failed only when it is shut down.
    this.closed = this.#server.finished.catch(() => {}).then(() => this.#server.shutdown());
  }

  closeIfOverdue(now: number, { headerMs, idleMs }: ConnectionTiming): void {
    const maxMs = this.#hasServed ? idleMs : headerMs;
    if (this.#running > 0 || now - this.#waitsSince <= maxMs) return;
    try {
      this.#close?.();
    } catch (error) {
      // The client has closed it, which is not known here yet. A real AbortSignal would end the process with this error.
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
  }

  async shutdown(): Promise<void> {
    void this.#server.shutdown();
    await this.closed;
  }

  readonly #complete = () => {
    this.#running--;
    this.#hasServed = true;
    this.#waitsSince = performance.now();
  };
}
