import { NotSent } from "../adapter.ts";
import type { BodyReader } from "../body_reader.ts";
import { type Http1ConnectOptions, openConnection } from "./connect.ts";
import type { Http1Connection } from "./connection.ts";
import { InvalidResponse, type ResponseHeaders } from "./head.ts";
import { type Http1Request, writeRequest } from "./write_request.ts";
import { nextTurn } from "../../lib/next_turn.ts";
import { sleep } from "../../lib/timers.ts";

export { HandshakeFailed } from "./connect.ts";

export interface SendOptions {
  /** The caller decodes a content encoding that was not requested. Otherwise such a response is an error. */
  acceptsCoded?: boolean;
}

export interface Http1Response {
  readonly status: number;
  readonly fields: ResponseHeaders;
  readonly body: BodyReader;
}

export interface Http1Options extends Http1ConnectOptions {
  /** How long an idle connection is kept. */
  idleMs?: number;
}

/** A server, with its pool of idle connections. */
interface Origin {
  readonly isTls: boolean;
  readonly hostname: string;
  readonly port: number;
  readonly idle: Idle[];
  isForFetch: boolean;
}

interface Idle {
  readonly connection: Http1Connection;
  readonly since: number;
  /** When the server will close the connection, less a margin for the network. */
  readonly untilMs: number;
}

interface Route {
  readonly origin: Origin;
  /** The first two lines of a request, without the method. */
  readonly head: string;
}

/** One request on one connection. */
interface Exchange {
  readonly origin: Origin;
  readonly head: Uint8Array;
  readonly content: Uint8Array | null;
  readonly signal: AbortSignal;
  readonly options: SendOptions;
}

const IDLE_MS = 55_000;
const IDLE_MAX = 512;
/** A connection that was idle for longer than this is checked before it is used again. */
const UNCHECKED_MS = 1_000;
/** A connection is not used this long before the server closes it. */
const CLOSING_MARGIN_MS = 1_000;
const ROUTES_MAX = 1_000;
const NAME = /^[!#$%&'*+.^`|~\w-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;
/** Headers that the client sets itself, and headers that need `fetch` for their response. */
const RESERVED = new Set([
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

/** Whether the environment configures what only `fetch` supports: a proxy. */
export function needsFetch(environment: Readonly<Record<string, string | undefined>>): boolean {
  const isSet = (name: string) => (environment[name] ?? "") !== "";
  return ["http_proxy", "https_proxy", "all_proxy"].some((name) =>
    isSet(name) || isSet(name.toUpperCase())
  );
}

/**
 * An HTTP/1.1 client with keep-alive, for streamed responses. `fetch` returns one chunk per read and allocates
 * a dozen objects for it; here one read returns all bytes that have arrived.
 */
export class Http1Client implements Disposable {
  readonly #routes = new Map<string, Route | null>();
  readonly #origins = new Map<string, Origin>();
  readonly #open = new Set<Http1Connection>();
  readonly #idleMs: number;
  #sweeping: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(private readonly options: Http1Options = {}) {
    this.#idleMs = options.idleMs ?? IDLE_MS;
  }

  /** The number of idle connections. */
  get idleCount(): number {
    let count = 0;
    for (const { idle } of this.#origins.values()) count += idle.length;
    return count;
  }

  /** Whether this client can send the request. All others need `fetch`. */
  canSend(request: Http1Request): boolean {
    const route = this.#routeTo(request.url);
    if (this.#isClosed || route === null || route.origin.isForFetch) return false;
    for (const name in request.headers) {
      if (!NAME.test(name) || RESERVED.has(name.toLowerCase())) return false;
      if (!VALUE.test(request.headers[name]!)) return false;
    }
    return true;
  }

  /**
   * Sends a request that `canSend` accepts. Throws `NotSent` if no byte of it was written, also where `signal` aborted
   * before. Only a GET is sent a second time: a server that closes without a response may have started a job that
   * costs money.
   */
  async send(
    request: Http1Request,
    signal: AbortSignal,
    options: SendOptions = {},
  ): Promise<Http1Response> {
    const route = this.#routeTo(request.url)!;
    const { head, content } = writeRequest(request, route.head);
    const exchange = { origin: route.origin, head, content, signal, options };
    // Requests of one moment are written one after the other: a server that sleeps is woken once, not for each.
    await nextTurn();
    const kept = route.origin.idle.length === 0 ? null : await this.#takeKept(route.origin);
    if (kept !== null) {
      try {
        return await this.#exchange(kept, exchange);
      } catch (error) {
        if (signal.aborted || kept.hasReceived || request.method !== "GET") throw error;
      }
    }
    throwIfGivenUp(signal);
    const connection = await openConnection(route.origin, signal, this.options);
    this.#open.add(connection);
    return await this.#exchange(connection, exchange);
  }

  /** An idle connection that is not known to be closed; null where a new one is needed. */
  async #takeKept({ idle }: Origin): Promise<Http1Connection | null> {
    for (let kept = idle.pop(); kept !== undefined; kept = idle.pop()) {
      const { connection, since, untilMs } = kept;
      const now = performance.now();
      if (now < untilMs) {
        // The server's close may have arrived without having been read: lets the runtime read it.
        if (now - since > UNCHECKED_MS) await sleep(0);
        if (!connection.isClosed) return connection;
      }
      this.#close(connection);
    }
    return null;
  }

  async #exchange(connection: Http1Connection, exchange: Exchange): Promise<Http1Response> {
    const { origin, signal, options } = exchange;
    const stop = () => connection.close();
    signal.addEventListener("abort", stop);
    try {
      throwIfGivenUp(signal);
      const head = await connection.sendRequest(exchange.head, exchange.content);
      const coding = head.fields.get("content-encoding") ?? "identity";
      if (coding !== "identity" && options.acceptsCoded !== true) {
        // The encoding was not requested. `fetch` can decode it: later requests to this server use `fetch`.
        origin.isForFetch = true;
        throw new InvalidResponse(`the response has the content encoding ${coding}`);
      }
      const keepMs = keepMsOf(head.fields);
      const body = connection.body(head, (isReusable) => {
        signal.removeEventListener("abort", stop);
        if (isReusable) this.#keep(origin, connection, keepMs);
        else this.#open.delete(connection);
      });
      return { status: head.status, fields: head.fields, body };
    } catch (error) {
      signal.removeEventListener("abort", stop);
      this.#close(connection);
      throw error;
    }
  }

  #keep(origin: Origin, connection: Http1Connection, keepMs: number): void {
    if (this.#isClosed || origin.idle.length >= IDLE_MAX || keepMs <= 0) {
      return this.#close(connection);
    }
    const since = performance.now();
    const idle = { connection, since, untilMs: since + keepMs };
    origin.idle.push(idle);
    connection.waitIdle(() => {
      const at = origin.idle.indexOf(idle);
      if (at !== -1) origin.idle.splice(at, 1);
      this.#close(connection);
    });
    this.#sweeping ??= setTimeout(() => this.#sweep(), this.#idleMs);
  }

  /** Closes connections that are idle for too long. The last used is reused first: the oldest are at the front. */
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

  #close(connection: Http1Connection): void {
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

/** Before the first byte of a request is written. */
function throwIfGivenUp(signal: AbortSignal): void {
  if (signal.aborted) throw new NotSent("the request was given up", { cause: signal.reason });
}

/** How long the server keeps an idle connection by its `Keep-Alive` header, less a margin. */
function keepMsOf(fields: ResponseHeaders): number {
  const [, seconds] = /(?:^|[\s,;])timeout=(\d{1,9})/i.exec(fields.get("keep-alive") ?? "") ?? [];
  return seconds === undefined ? Infinity : Number(seconds) * 1000 - CLOSING_MARGIN_MS;
}
