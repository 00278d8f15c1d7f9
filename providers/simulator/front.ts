/** Relays connections to a server that cannot close one without an answer, and closes them for it. */
export interface Front extends AsyncDisposable {
  readonly port: number;
  /** Closes the connection that reached the server from this port. */
  close(innerPort: number): void;
}

export function openFront(where: { hostname: string; port: number }, serverPort: number): Front {
  const listener = Deno.listen(where);
  const open = new Map<number, Deno.Conn[]>();
  const running = new Set<Promise<void>>();

  function close(innerPort: number): void {
    for (const connection of open.get(innerPort) ?? []) closeQuietly(connection);
    open.delete(innerPort);
  }

  async function relay(client: Deno.Conn): Promise<void> {
    const server = await Deno.connect({ hostname: "127.0.0.1", port: serverPort });
    const innerPort = (server.localAddr as Deno.NetAddr).port;
    open.set(innerPort, [client, server]);
    await Promise.all([copy(client, server), copy(server, client)]);
    close(innerPort);
  }

  const accepting = (async () => {
    for await (const client of listener) {
      const relaying = relay(client).catch(() => closeQuietly(client));
      running.add(relaying);
      relaying.then(() => running.delete(relaying));
    }
  })();
  return {
    port: listener.addr.port,
    close,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const innerPort of [...open.keys()]) close(innerPort);
      await accepting;
      await Promise.all(running);
    },
  };
}

/** Until either side closes; then the other is told. */
async function copy(from: Deno.Conn, to: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(16_384);
  try {
    for (let read = await from.read(buffer); read !== null; read = await from.read(buffer)) {
      for (let at = 0; at < read;) at += await to.write(buffer.subarray(at, read));
    }
    await to.closeWrite();
  } catch {
    // Closed by one of them, or by us.
    closeQuietly(to);
  }
}

function closeQuietly(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // Closed already.
  }
}
