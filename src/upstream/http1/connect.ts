import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { NotSent } from "../adapter.ts";
import { Http1Connection } from "./connection.ts";

export type Connect = (
  where: { hostname: string; port: number; signal: AbortSignal },
) => Promise<Deno.TcpConn>;

interface Where {
  readonly isTls: boolean;
  readonly hostname: string;
  readonly port: number;
}

/** Resolves all IP addresses of a host. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

export interface Http1ConnectOptions {
  /** Certificates to trust in addition to the system's. */
  caCerts?: string[];
  connect?: Connect;
  lookup?: Lookup;
}

/** The TLS handshake failed, and nothing was sent. `fetch` may succeed, since it also supports HTTP/2. */
export class HandshakeFailed extends NotSent {}

/** Opens a connection. Throws `NotSent` if none of the host's addresses accepts it, or if `signal` aborts before. */
export async function openConnection(
  { hostname, port, isTls }: Where,
  signal: AbortSignal,
  options: Http1ConnectOptions,
): Promise<Http1Connection> {
  let socket: Deno.TcpConn;
  try {
    socket = await connectAny({ hostname, port, signal }, options);
    socket.setNoDelay();
  } catch (cause) {
    throw new NotSent("no connection could be opened", { cause });
  }
  return isTls
    ? await secure(socket, hostname, signal, options.caCerts)
    : new Http1Connection(socket);
}

/** The runtime tries one address of a host: if that fails, this tries all addresses in turn. */
async function connectAny(
  where: Parameters<Connect>[0],
  { connect = Deno.connect, lookup = addressesOf }: Http1ConnectOptions,
): Promise<Deno.TcpConn> {
  const { hostname, signal } = where;
  try {
    return await connect(where);
  } catch (cause) {
    signal.throwIfAborted();
    if (isIP(hostname) !== 0) throw cause;
    // Whatever else fails, the first error is thrown: it is about the address that the runtime chose.
    const addresses = await lookup(hostname).catch(() => []);
    for (const address of addresses.length < 2 ? [] : addresses) {
      const socket = await connect({ ...where, hostname: address }).catch(() => null);
      if (socket !== null) return socket;
      signal.throwIfAborted();
    }
    throw cause;
  }
}

async function addressesOf(hostname: string): Promise<string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

async function secure(
  socket: Deno.TcpConn,
  hostname: string,
  signal: AbortSignal,
  caCerts: string[] | undefined,
): Promise<Http1Connection> {
  const tls = await Deno.startTls(socket, { hostname, caCerts, alpnProtocols: ["http/1.1"] });
  const connection = new Http1Connection(tls);
  const stop = () => connection.close();
  signal.addEventListener("abort", stop);
  try {
    signal.throwIfAborted();
    await tls.handshake();
    return connection;
  } catch (cause) {
    connection.close();
    if (signal.aborted) throw new NotSent("the TLS handshake was given up", { cause });
    throw new HandshakeFailed("the TLS handshake failed", { cause });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
