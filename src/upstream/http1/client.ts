import { NotSent, type UpstreamRequest } from "../adapter.ts";
import type { BodyReader } from "../body_reader.ts";
import { Connection } from "./connection.ts";
import { BrokenAnswer, type Fields } from "./head.ts";

export interface Http1Answer {
  readonly status: number;
  readonly fields: Fields;
  readonly body: BodyReader;
}

export type Connect = (
  where: { hostname: string; port: number; signal: AbortSignal },
) => Promise<Deno.TcpConn>;

export interface Http1Options {
  /** Certificates to trust beside the system's. */
  caCerts?: string[];
  /** How long a connection waits for its next request. */
  idleMs?: number;
  connect?: Connect;
}

/** Where a request goes: one pool of connections each. */
interface Origin {
  readonly isTls: boolean;
  readonly hostname: string;
  readonly port: number;
  readonly idle: Idle[];
  isForFetch: boolean;
}

interface Idle {
  readonly connection: Connection;
  readonly since: number;
}

interface Route {
  readonly origin: Origin;
  /** The request's first two lines without their method. */
  readonly head: string;
}

const IDLE_MS = 55_000;
const IDLE_MAX = 512;
const ROUTES_MAX = 1_000;
const NAME = /^[!#$%&'*+.^`|~\w-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;
/** What we say ourselves; and a request that asks for a coding must be answered by who can undo it. */
const OURS = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "accept-encoding",
  "expect",
  "upgrade",
  "te",
  "trailer",
]);
const encoder = new TextEncoder();

/** Whether the environment asks for what only `fetch` does: going through a proxy, and tracing. */
export function needsFetch(environment: Readonly<Record<string, string | undefined>>): boolean {
  const isSet = (name: string) => (environment[name] ?? "") !== "";
  return isSet("OTEL_DENO") ||
    ["http_proxy", "https_proxy", "all_proxy"].some((name) =>
      isSet(name) || isSet(name.toUpperCase())
    );
}

/**
 * HTTP/1.1 with kept connections, for answers that are read as they come. `fetch` gives one chunk for each
 * of its reads and makes a dozen objects for it; here one read takes all that is there.
 */
export class Http1Client implements Disposable {
  readonly #routes = new Map<string, Route | null>();
  readonly #origins = new Map<string, Origin>();
  readonly #open = new Set<Connection>();
  readonly #idleMs: number;
  #sweeping: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(private readonly options: Http1Options = {}) {
    this.#idleMs = options.idleMs ?? IDLE_MS;
  }

  /** Connections that wait for a request. */
  get resting(): number {
    let count = 0;
    for (const { idle } of this.#origins.values()) count += idle.length;
    return count;
  }

  /** Whether it can send this request as it stands. What it cannot is for `fetch`. */
  takes(request: UpstreamRequest): boolean {
    const route = this.#routeTo(request.url);
    if (this.#isClosed || route === null || route.origin.isForFetch) return false;
    for (const name in request.headers) {
      if (!NAME.test(name) || OURS.has(name.toLowerCase())) return false;
      if (!VALUE.test(request.headers[name]!)) return false;
    }
    return true;
  }

  /** Sends a request it takes. Throws `NotSent` where no connection came to be. */
  async send(request: UpstreamRequest, signal: AbortSignal): Promise<Http1Answer> {
    const route = this.#routeTo(request.url)!;
    const bytes = write(request, route);
    const kept = route.origin.idle.pop();
    if (kept !== undefined) {
      const { connection } = kept;
      try {
        return await this.#ask(connection, route.origin, bytes, signal);
      } catch (error) {
        // Closed just as it was used again, and nothing answered: that is no word about the upstream.
        if (signal.aborted || connection.isHeard) throw error;
      }
    }
    signal.throwIfAborted();
    const connection = await open(route.origin, signal, this.options);
    this.#open.add(connection);
    return await this.#ask(connection, route.origin, bytes, signal);
  }

  async #ask(
    connection: Connection,
    origin: Origin,
    bytes: Uint8Array,
    signal: AbortSignal,
  ): Promise<Http1Answer> {
    const stop = () => connection.close();
    signal.addEventListener("abort", stop);
    try {
      signal.throwIfAborted();
      const head = await connection.ask(bytes);
      const coding = head.fields.get("content-encoding") ?? "identity";
      if (coding !== "identity") {
        // Not what was asked for, and `fetch` knows how to read it: the next one is for it.
        origin.isForFetch = true;
        throw new BrokenAnswer(`the answer is coded with ${coding}`);
      }
      const body = connection.body(head, (isReusable) => {
        signal.removeEventListener("abort", stop);
        if (isReusable) this.#keep(origin, connection);
        else this.#open.delete(connection);
      });
      return { status: head.status, fields: head.fields, body };
    } catch (error) {
      signal.removeEventListener("abort", stop);
      this.#close(connection);
      throw error;
    }
  }

  #keep(origin: Origin, connection: Connection): void {
    if (this.#isClosed || origin.idle.length >= IDLE_MAX) return this.#close(connection);
    const idle = { connection, since: performance.now() };
    origin.idle.push(idle);
    connection.rest(() => {
      const at = origin.idle.indexOf(idle);
      if (at !== -1) origin.idle.splice(at, 1);
      this.#close(connection);
    });
    this.#sweeping ??= setTimeout(() => this.#sweep(), this.#idleMs);
  }

  /** Closes what nobody needed for long; the last used is used first, so those are at the front. */
  #sweep(): void {
    this.#sweeping = undefined;
    const before = performance.now() - this.#idleMs + 1;
    let left = 0;
    for (const { idle } of this.#origins.values()) {
      while (idle.length > 0 && idle[0]!.since <= before) this.#close(idle.shift()!.connection);
      left += idle.length;
    }
    if (left > 0) this.#sweeping = setTimeout(() => this.#sweep(), this.#idleMs / 2);
  }

  #close(connection: Connection): void {
    this.#open.delete(connection);
    connection.close();
  }

  #routeTo(address: string): Route | null {
    const known = this.#routes.get(address);
    if (known !== undefined) return known;
    if (this.#routes.size >= ROUTES_MAX) this.#routes.clear();
    const route = this.#route(address);
    this.#routes.set(address, route);
    return route;
  }

  #route(address: string): Route | null {
    const url = URL.parse(address);
    if (url === null || !/^https?:$/.test(url.protocol)) return null;
    if (url.username !== "" || url.password !== "" || url.port === "0") return null;
    const isTls = url.protocol === "https:";
    let origin = this.#origins.get(url.origin);
    if (origin === undefined) {
      origin = {
        isTls,
        hostname: url.hostname.replace(/^\[|\]$/g, ""),
        port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
        idle: [],
        isForFetch: false,
      };
      this.#origins.set(url.origin, origin);
    }
    return { origin, head: ` ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n` };
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#sweeping);
    for (const connection of this.#open) connection.close();
    this.#open.clear();
    this.#origins.clear();
  }
}

function write({ method, headers, body }: UpstreamRequest, route: Route): Uint8Array {
  let head = method + route.head;
  let isNamed = false;
  for (const name in headers) {
    head += `${name}: ${headers[name]}\r\n`;
    isNamed ||= name.toLowerCase() === "user-agent";
  }
  // Some servers turn away who does not say what they are.
  if (!isNamed) head += "user-agent: Tollgate\r\n";
  head += "accept-encoding: identity\r\n";
  const content = body === null ? null : encoder.encode(body);
  if (content !== null) head += `content-length: ${content.length}\r\n`;
  head += "\r\n";
  const bytes = new Uint8Array(head.length + (content?.length ?? 0));
  encoder.encodeInto(head, bytes);
  if (content !== null) bytes.set(content, head.length);
  return bytes;
}

async function open(
  { hostname, port, isTls }: Origin,
  signal: AbortSignal,
  { caCerts, connect = Deno.connect }: Http1Options,
): Promise<Connection> {
  let socket: Deno.TcpConn;
  try {
    socket = await connect({ hostname, port, signal });
    socket.setNoDelay();
  } catch (cause) {
    signal.throwIfAborted();
    throw new NotSent("no connection came to be", { cause });
  }
  return isTls ? await secure(socket, hostname, signal, caCerts) : new Connection(socket);
}

async function secure(
  socket: Deno.TcpConn,
  hostname: string,
  signal: AbortSignal,
  caCerts: string[] | undefined,
): Promise<Connection> {
  const tls = await Deno.startTls(socket, { hostname, caCerts, alpnProtocols: ["http/1.1"] });
  const connection = new Connection(tls);
  const stop = () => connection.close();
  signal.addEventListener("abort", stop);
  try {
    signal.throwIfAborted();
    await tls.handshake();
    return connection;
  } catch (cause) {
    connection.close();
    signal.throwIfAborted();
    throw new NotSent("the other side could not be trusted", { cause });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
