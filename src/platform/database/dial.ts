import { once } from "node:events";
import { connect, isIP, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { ConnectionError, isStorageDown, StorageError } from "./storage_error.ts";

/** The address of a Postgres server. */
export type ServerTarget = { path: string } | { host: string; port: number; tls?: Tls };
/** The same, or how to reach one in this process. */
export type DialTarget = ServerTarget | { name: string; open: () => Duplex };

export interface Tls {
  /** Continue without TLS if the server does not support it. */
  optional: boolean;
  /** Whether the certificate must be valid, and for this host. */
  verify: "nothing" | "certificate" | "host";
  ca?: string;
}

/** The SSLRequest message that precedes a handshake: length 8 and the request code. */
const TLS_REQUEST = new Uint8Array([0, 0, 0, 8, 4, 210, 22, 47]);

/** A connected socket, with TLS if the target requires it. */
export async function dial(target: DialTarget, timeoutMs: number): Promise<Duplex> {
  if ("open" in target) return target.open();
  if ("path" in target) return await dialUnix(target.path);
  const socket = connect(target.port, target.host);
  const giveUp = (code: string, message: string) => () =>
    socket.destroy(new ConnectionError(code, message));
  const timer = setTimeout(giveUp("CONNECT_TIMEOUT", "no answer in time"), timeoutMs);
  // A proxy without a server behind it accepts and closes the connection.
  const closed = giveUp("CONNECTION_CLOSED", "the connection was closed at once");
  socket.once("end", closed);
  try {
    await once(socket, "connect").catch((cause) => {
      throw new ConnectionError(cause.code, cause.message, { cause });
    });
    socket.setNoDelay(true);
    return target.tls === undefined ? socket : await secure(socket, target.host, target.tls);
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
    socket.off("end", closed);
  }
}

/**
 * Not through `node:net`: in Deno 2.9 it closes the descriptor of a unix socket twice, and the second
 * time that number may already belong to another file or connection.
 */
async function dialUnix(path: string): Promise<Duplex> {
  try {
    const connected = await Deno.connect({ transport: "unix", path });
    // Node's types of web streams differ from the web's in what is optional.
    return Duplex.fromWeb(connected as unknown as Parameters<typeof Duplex.fromWeb>[0]);
  } catch (cause) {
    throw new ConnectionError((cause as { code?: string }).code ?? "ECONNREFUSED", String(cause), {
      cause,
    });
  }
}

async function secure(socket: Socket, host: string, tls: Tls): Promise<Socket> {
  socket.write(TLS_REQUEST);
  const [answer] = await once(socket, "data") as [Uint8Array];
  if (answer[0] !== "S".charCodeAt(0)) {
    if (tls.optional) return socket;
    throw new StorageError(
      "the server does not offer TLS, which sslmode in DATABASE_URL asks for: turn TLS on at the " +
        "server, or set sslmode=disable on a network that you trust",
    );
  }
  const secured = connectTls({
    socket,
    host, // what the certificate must be for; without it, Node takes "localhost"
    // SNI allows names only, not addresses.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    rejectUnauthorized: tls.verify !== "nothing",
    ...(tls.verify === "certificate" ? { checkServerIdentity: () => undefined } : {}),
  });
  await once(secured, "secureConnect").catch((cause) => {
    if (isStorageDown(cause)) throw cause;
    throw new StorageError(
      `the server's certificate was not accepted (${cause.message}): name its authority with ` +
        "sslrootcert in DATABASE_URL, or set sslmode=require to encrypt without checking it",
      { cause },
    );
  });
  return secured;
}
