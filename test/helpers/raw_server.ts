/** A server that speaks bytes, for answers that no HTTP server would give. */
export interface RawServer extends AsyncDisposable {
  readonly port: number;
  /** Connections taken so far. */
  readonly taken: number;
}

const TLS = new URL("./tls/", import.meta.url);
export const HOST = "hooks.example.com";
export const CERTIFICATE = Deno.readTextFileSync(new URL("cert.pem", TLS));
export const KEY = Deno.readTextFileSync(new URL("key.pem", TLS));

/** `answer` gets each connection after its request's head was read, and the head. */
export function serveRaw(
  answer: (connection: Deno.Conn, head: string) => void | Promise<void>,
  { tls = false }: { tls?: boolean } = {},
): RawServer {
  const where = { hostname: "127.0.0.1", port: 0 };
  const listener = tls
    ? Deno.listenTls({ ...where, cert: CERTIFICATE, key: KEY })
    : Deno.listen(where);
  const open = new Set<Deno.Conn>();
  const running = new Set<Promise<void>>();
  let taken = 0;
  async function talk(connection: Deno.Conn): Promise<void> {
    open.add(connection);
    try {
      let head = "";
      const buffer = new Uint8Array(16_384);
      while (!head.includes("\r\n\r\n")) {
        const read = await connection.read(buffer);
        if (read === null) return;
        head += new TextDecoder().decode(buffer.subarray(0, read));
      }
      await answer(connection, head);
    } catch {
      // The other side left; most tests here make it do so.
    } finally {
      open.delete(connection);
      try {
        connection.close();
      } catch {
        // Closed already.
      }
    }
  }
  const accepting = (async () => {
    try {
      for await (const connection of listener as Deno.Listener) {
        taken++;
        const talking = talk(connection);
        running.add(talking);
        talking.then(() => running.delete(talking));
      }
    } catch {
      // A handshake that failed ends the loop of a TLS listener.
    }
  })();
  return {
    port: (listener.addr as Deno.NetAddr).port,
    get taken() {
      return taken;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const connection of open) {
        try {
          connection.close();
        } catch {
          // Closed already.
        }
      }
      await accepting;
      await Promise.all(running);
    },
  };
}

export const say = (connection: Deno.Conn, text: string): Promise<number> =>
  connection.write(new TextEncoder().encode(text));

/** Waits until the other side closes. */
export async function untilLeft(connection: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(1024);
  while (await connection.read(buffer).catch(() => null) !== null);
}
