import { Duplex } from "node:stream";
// @ts-types="@types/pg"
import pg from "pg";
import { parseDatabaseUrl } from "../database/database_url.ts";
import { dial, type ServerTarget } from "../database/dial.ts";

const CONNECT_MS = 5_000;

/**
 * A small pool of the other driver, for graphile-worker. It connects as ours does, so that one DATABASE_URL
 * means one thing: the same TLS, and unix sockets without `node:net`.
 */
export function openPgPool(databaseUrl: string, max: number): pg.Pool {
  const { target, database, user, password, session } = parseDatabaseUrl(databaseUrl);
  const pool = new pg.Pool({
    max,
    ...(database === undefined ? {} : { database }),
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    application_name: "tollgate queue",
    options: Object.entries(session).map(([name, value]) =>
      `-c ${name}=${value.replace(/[\\ ]/g, "\\$&")}`
    ).join(" "),
    ssl: false,
    connectionTimeoutMillis: CONNECT_MS,
    stream: () => new DialedStream(target),
  } as pg.PoolConfig);
  // A lost connection fails the query that runs on it; an idle one is replaced by the next query.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** What `pg` takes for a socket: dials when told to connect, and then passes bytes. */
class DialedStream extends Duplex {
  #socket: Duplex | null = null;

  constructor(private readonly target: ServerTarget) {
    super();
  }

  connect(): this {
    dial(this.target, CONNECT_MS).then(
      (socket) => this.#use(socket),
      (error) => this.destroy(error),
    );
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  #use(socket: Duplex): void {
    if (this.destroyed) return void socket.destroy();
    this.#socket = socket;
    socket.on("data", (bytes) => {
      if (!this.push(bytes)) socket.pause();
    });
    socket.on("end", () => this.push(null));
    socket.on("error", (error) => this.destroy(error));
    socket.on("close", () => this.destroy());
    this.emit("connect");
  }

  override _read(): void {
    this.#socket?.resume();
  }

  override _write(
    bytes: Uint8Array,
    _encoding: string,
    done: (error?: Error | null) => void,
  ): void {
    this.#socket!.write(bytes, done);
  }

  override _final(done: () => void): void {
    if (this.#socket === null) return done();
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket?.destroy();
    done(error);
  }
}
