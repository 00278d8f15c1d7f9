import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from "node:https";
import { isIPv6 } from "node:net";
import { ApiError } from "../../lib/api_error.ts";
import { isPublicAddress } from "./addresses.ts";
import { checkUrl, type OutboundPolicy, PRIVATE_ADDRESS, unsafe } from "./check_url.ts";
import { outboundFaultOf, OutboundError } from "./outbound_error.ts";
import { type Resolve, resolveHost } from "./resolve.ts";

export interface OutboundRequest {
  url: string;
  method?: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array | null;
  /** Until the last byte of the answer. */
  timeoutMs: number;
  /** Until the connection stands; at most `timeoutMs`. */
  connectTimeoutMs?: number;
  /** The largest answer that is read. */
  bytesMax: number;
  signal?: AbortSignal;
}

/** An answer, whatever its status: redirects are answers, never followed. */
export interface SafeResponse extends Disposable {
  readonly status: number;
  readonly headers: Headers;
  /** Fails with an `OutboundError` when it is cut off, too large or too slow. Null where HTTP has none. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  /** Gives the connection up unless the answer was read to its end. Harmless to repeat. */
  dispose(): void;
}

export interface OutboundOptions {
  resolve?: Resolve;
  /** Certificates to trust instead of the system's. */
  ca?: string;
  /** Connections of one host that are kept for the next request. */
  idleMax?: number;
}

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_MS = 15_000;
const HEADER_BYTES_MAX = 16_384;

/**
 * Makes requests to URLs that clients chose. The host is resolved here, every address it has must be public, and the
 * connection goes to one of those: there is no second lookup that could answer differently. Connections are kept
 * per policy and host, so a reused connection was checked when it was made.
 */
export class Outbound implements Disposable {
  readonly #resolve: Resolve;
  readonly #agents: Record<"strict" | "lenient", { http: HttpAgent; https: HttpsAgent }>;

  constructor({ resolve = resolveHost, ca, idleMax = 16 }: OutboundOptions = {}) {
    this.#resolve = resolve;
    const agents = () => {
      const options = { keepAlive: idleMax > 0, maxFreeSockets: Math.max(idleMax, 1) };
      return {
        http: new HttpAgent({ ...options, timeout: IDLE_MS }),
        https: new HttpsAgent({ ...options, timeout: IDLE_MS, ca }),
      };
    };
    this.#agents = { strict: agents(), lenient: agents() };
  }

  /** Rejects with an `ApiError` (`unsafe_url`) or an `OutboundError`. */
  async fetch(request: OutboundRequest, policy: OutboundPolicy): Promise<SafeResponse> {
    const url = checkUrl(request.url, policy);
    request.signal?.throwIfAborted();
    const line = {
      agents: this.#agents[policy.allowPrivate ? "lenient" : "strict"],
      lookUp: (host: string) => this.#lookUp(host, policy),
    };
    try {
      return await new Exchange(url, request, line).answered;
    } catch (error) {
      // The other side closed a kept connection just as it was used again: it never saw the request.
      if (!(error instanceof OutboundError && error.wasKept)) throw error;
      return await new Exchange(url, request, line).answered;
    }
  }

  async #lookUp(host: string, { allowPrivate }: OutboundPolicy): Promise<readonly string[]> {
    const addresses = await this.#resolve(host).catch((cause) => {
      throw new OutboundError("unresolved", { cause });
    });
    if (addresses.length === 0) throw new OutboundError("unresolved");
    // One private address among public ones is how a name is made to pass a check and then lead inside.
    if (!allowPrivate && !addresses.every(isPublicAddress)) throw unsafe(PRIVATE_ADDRESS);
    return addresses;
  }

  [Symbol.dispose](): void {
    for (const { http, https } of Object.values(this.#agents)) {
      http.destroy();
      https.destroy();
    }
  }
}

/** One request on a connection of its own. */
export async function safeFetch(
  request: OutboundRequest,
  policy: OutboundPolicy,
  options: OutboundOptions = {},
): Promise<SafeResponse> {
  const outbound = new Outbound({ ...options, idleMax: 0 });
  return await outbound.fetch(request, policy);
}

/** How connections are made: the agents that keep them, and the lookup that checks addresses. */
interface Line {
  agents: { http: HttpAgent; https: HttpsAgent };
  lookUp(host: string): Promise<readonly string[]>;
}

type LookupDone = (
  error: Error | null,
  found?: string | { address: string; family: number }[],
  family?: number,
) => void;

/** One request and its answer. The first failure counts; errors that follow from it are dropped. */
class Exchange {
  readonly #outgoing: ClientRequest;
  readonly #answered = Promise.withResolvers<SafeResponse>();
  readonly #timers: ReturnType<typeof setTimeout>[];
  readonly #abort: () => void;
  #incoming: IncomingMessage | undefined;
  #failure: unknown;

  constructor(url: URL, private readonly request: OutboundRequest, line: Line) {
    const isTls = url.protocol === "https:";
    const { timeoutMs, connectTimeoutMs = CONNECT_TIMEOUT_MS, signal } = request;
    const body = typeof request.body === "string"
      ? new TextEncoder().encode(request.body)
      : request.body ?? null;
    this.#outgoing = (isTls ? httpsRequest : httpRequest)(requestOptions(url, request, body, line));
    const late = () => this.#fail(new OutboundError("timeout"));
    const connecting = setTimeout(late, Math.min(connectTimeoutMs, timeoutMs));
    this.#timers = [setTimeout(late, timeoutMs), connecting];
    this.#abort = () => this.#fail(new OutboundError("aborted", { cause: signal?.reason }));
    signal?.addEventListener("abort", this.#abort);
    this.#listen(isTls ? "secureConnect" : "connect", connecting);
    this.#outgoing.end(body ?? undefined);
  }

  get answered(): Promise<SafeResponse> {
    return this.#answered.promise;
  }

  #listen(connectEvent: string, connecting: ReturnType<typeof setTimeout>): void {
    const outgoing = this.#outgoing;
    outgoing.on("socket", (socket) => {
      const connected = () => clearTimeout(connecting);
      if (outgoing.reusedSocket) connected();
      else socket.once(connectEvent, connected);
    });
    outgoing.on("error", (error) => this.#fail(known(error, outgoing.reusedSocket)));
    outgoing.on("upgrade", (_, socket) => {
      socket.destroy();
      this.#fail(new OutboundError("broken"));
    });
    outgoing.on("response", (answer) => this.#answer(answer));
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#settle();
    this.#answered.reject(this.#failure);
    this.#outgoing.destroy();
    this.#incoming?.destroy();
  }

  #settle(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.request.signal?.removeEventListener("abort", this.#abort);
  }

  #answer(answer: IncomingMessage): void {
    this.#incoming = answer;
    // Also after the end, where an error would otherwise be uncaught.
    answer.on("error", (error) => this.#failure ??= known(error));
    const hasBody = this.request.method !== "HEAD" && answer.statusCode !== 204 &&
      answer.statusCode !== 304;
    if (!hasBody) {
      answer.resume();
      this.#settle();
    }
    const dispose = () => {
      this.#settle();
      if (!answer.complete) this.#outgoing.destroy();
      answer.destroy();
    };
    this.#answered.resolve({
      status: answer.statusCode ?? 0,
      headers: headersOf(answer),
      body: hasBody ? this.#body(answer) : null,
      dispose,
      [Symbol.dispose]: dispose,
    });
  }

  #body(answer: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
    const chunks = answer[Symbol.asyncIterator]();
    let bytes = 0;
    return new ReadableStream({
      pull: async (controller) => {
        try {
          const { done, value } = await chunks.next();
          if (this.#failure !== undefined) throw this.#failure;
          if (done) {
            // Without its announced end it was cut off, even where the connection was closed in order.
            if (!answer.complete) throw new OutboundError("broken");
            this.#settle();
            return controller.close();
          }
          bytes += value.length;
          if (bytes > this.request.bytesMax) throw new OutboundError("too_large");
          controller.enqueue(new Uint8Array(value));
        } catch (error) {
          this.#fail(known(error));
          controller.error(this.#failure);
        }
      },
      cancel: () => {
        this.#settle();
        answer.destroy();
      },
    }, { highWaterMark: 0 });
  }
}

function requestOptions(
  url: URL,
  { method = "GET", headers }: OutboundRequest,
  body: Uint8Array | null,
  line: Line,
): RequestOptions {
  const isTls = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return {
    host,
    port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
    method,
    headers: {
      ...lowerCased(headers),
      host: url.host,
      "accept-encoding": "identity",
      ...(body === null ? {} : { "content-length": String(body.length) }),
    },
    agent: isTls ? line.agents.https : line.agents.http,
    ...(isTls ? { servername: host } : {}),
    maxHeaderSize: HEADER_BYTES_MAX,
    // Called when the socket connects; not for a kept connection, nor for an IP address.
    lookup(name: string, options: { all?: boolean }, done: LookupDone) {
      line.lookUp(name).then((addresses) => {
        const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
        if (options.all) done(null, found);
        else done(null, found[0]!.address, found[0]!.family);
      }, done);
    },
  } as RequestOptions;
}

function known(error: unknown, wasKept = false): unknown {
  if (error instanceof OutboundError || error instanceof ApiError) return error;
  return new OutboundError(outboundFaultOf(error), { cause: error, wasKept });
}

function lowerCased(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

function headersOf(answer: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < answer.rawHeaders.length; at += 2) {
    try {
      headers.append(answer.rawHeaders[at]!, answer.rawHeaders[at + 1]!);
    } catch (error) {
      // Invalid names and values are dropped.
      if (!(error instanceof TypeError)) throw error;
    }
  }
  return headers;
}
