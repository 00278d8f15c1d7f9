/** A TCP proxy in front of a server, whose connections can be cut, frozen and delayed. */
export class TcpProxy implements AsyncDisposable {
  readonly port: number;
  readonly #listener: Deno.TcpListener;
  readonly #targetPort: number;
  readonly #open = new Set<Deno.Conn>();
  readonly #accepting: Promise<void>;
  #thawed: Promise<void> = Promise.resolve();
  #thaw: () => void = () => {};
  delayMs = 0;
  /** Connections that were cut. */
  cuts = 0;

  constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.port = this.#listener.addr.port;
    this.#accepting = this.#accept();
  }

  /** Closes every connection at once; new ones are accepted. */
  cut(): number {
    const count = this.#open.size / 2;
    for (const connection of this.#open) close(connection);
    this.#open.clear();
    this.cuts += count;
    return count;
  }

  /** Keeps every byte until `thaw`; nothing is closed. */
  freeze(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#thawed = promise;
    this.#thaw = resolve;
  }

  thaw(): void {
    this.#thaw();
    this.#thawed = Promise.resolve();
  }

  async #accept(): Promise<void> {
    for await (const client of this.#listener) void this.#join(client);
  }

  async #join(client: Deno.TcpConn): Promise<void> {
    let server: Deno.TcpConn;
    try {
      server = await Deno.connect({ hostname: "127.0.0.1", port: this.#targetPort });
    } catch {
      // The server is away: its clients see a connection that closes.
      return close(client);
    }
    for (const connection of [client, server]) {
      connection.setNoDelay(true);
      this.#open.add(connection);
    }
    await Promise.race([this.#pump(client, server), this.#pump(server, client)]);
    for (const connection of [client, server]) {
      this.#open.delete(connection);
      close(connection);
    }
  }

  async #pump(from: Deno.Conn, to: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(65_536);
    try {
      for (let read; (read = await from.read(buffer)) !== null;) {
        if (this.delayMs > 0) await new Promise((resume) => setTimeout(resume, this.delayMs));
        await this.#thawed;
        for (let sent = 0; sent < read;) sent += await to.write(buffer.subarray(sent, read));
      }
    } catch {
      // One side closed, or was cut.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.thaw();
    this.#listener.close();
    this.cut();
    await this.#accepting.catch(() => {});
  }
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // Closed already.
  }
}
