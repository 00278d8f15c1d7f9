import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";

/** A proxy in front of a Postgres that cuts connections when told to. */
export interface CuttingProxy extends AsyncDisposable {
  /** The server's address, through the proxy. */
  readonly url: string;
  /** Pieces that clients have sent so far: a clock that counts what happens, not time. */
  readonly sent: number;
  /** Cuts every connection once, when clients have sent so many pieces. */
  cutAt(piece: number): void;
  readonly cuts: number;
}

export async function cuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let sent = 0;
  let cuts = 0;
  let cutAt = Infinity;
  const cut = () => {
    cutAt = Infinity;
    cuts++;
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    for (const [from, to] of [[client, upstream], [upstream, client]] as const) {
      sockets.add(from);
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    client.on("data", (bytes) => {
      sent++;
      if (sent >= cutAt) return cut();
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => client.write(bytes));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.href,
    get sent() {
      return sent;
    },
    get cuts() {
      return cuts;
    },
    cutAt: (piece) => cutAt = piece,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
