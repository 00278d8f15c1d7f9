/** Forwards connections to a server, and can close one without a response, which `Deno.serve` cannot. */
export interface ClosingProxy extends AsyncDisposable {
  readonly port: number;
  /** Closes the connection that reached the server from this port. */
  close(serverSidePort: number): void;
}

export function openClosingProxy(
  listen: { hostname: string; port: number },
  serverPort: number,
): ClosingProxy {
  const listener = Deno.listen(listen);
  const open = new Map<number, Deno.Conn[]>();
  const forwarding = new Set<Promise<void>>();

  function close(serverSidePort: number): void {
    for (const connection of open.get(serverSidePort) ?? []) closeOnce(connection);
    open.delete(serverSidePort);
  }

  async function forward(client: Deno.Conn): Promise<void> {
    let server: Deno.Conn;
    try {
      server = await Deno.connect({ hostname: "127.0.0.1", port: serverPort });
    } catch (error) {
      // The server is shutting down.
      if (!(error instanceof Deno.errors.ConnectionRefused)) throw error;
      return closeOnce(client);
    }
    const serverSidePort = (server.localAddr as Deno.NetAddr).port;
    open.set(serverSidePort, [client, server]);
    await Promise.all([copy(client, server), copy(server, client)]);
    close(serverSidePort);
  }

  const accepting = (async () => {
    for await (const client of listener) {
      const done = forward(client);
      forwarding.add(done);
      done.then(() => forwarding.delete(done));
    }
  })();
  return {
    port: listener.addr.port,
    close,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const serverSidePort of [...open.keys()]) close(serverSidePort);
      await accepting;
      await Promise.all(forwarding);
    },
  };
}

/** Copies until either side closes; then closes the other. */
async function copy(from: Deno.Conn, to: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(16_384);
  try {
    for (let read = await from.read(buffer); read !== null; read = await from.read(buffer)) {
      for (let at = 0; at < read;) at += await to.write(buffer.subarray(at, read));
    }
    await to.closeWrite();
  } catch (error) {
    if (!isClosed(error)) throw error;
    closeOnce(to);
  }
}

function closeOnce(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch (error) {
    // It is closed already.
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

/** Whether either side or this proxy closed the connection. */
function isClosed(error: unknown): boolean {
  const { errors } = Deno;
  return [
    errors.BadResource,
    errors.Interrupted,
    errors.BrokenPipe,
    errors.ConnectionReset,
    errors.ConnectionAborted,
    errors.NotConnected,
  ].some((kind) => error instanceof kind);
}
