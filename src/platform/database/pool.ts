import type { Connection, Query } from "./connection.ts";
import { ConnectionError } from "./storage_error.ts";

/** A request for a connection: shared for a query, exclusive for a transaction. */
interface Waiter {
  serve(connection: Connection): void;
  refuse(error: Error): void;
}

/** After a failed attempt all requests fail for this long, then one may try again. */
const RETRY_MS = 200;

/** Up to `max` connections, opened when needed. While the database is away, requests fail at once. */
export class Pool {
  readonly #connections = new Set<Connection>();
  readonly #waiting: Waiter[] = [];
  #opening = 0;
  /** The last attempt to connect, when it failed. */
  #failure: { error: Error; retryAt: number } | null = null;
  #ending: PromiseWithResolvers<void> | null = null;
  #ended = false;

  /** `open` connects; a connection must call back when it becomes idle or dies. */
  constructor(
    private readonly open: (onChange: () => void) => Promise<Connection>,
    private readonly max: number,
  ) {}

  /** Runs a query on the least busy connection. */
  run(query: Query): void {
    if (query.cursorFn !== undefined || query.streaming === true) {
      return query.reject(new TypeError("Cursors and COPY need a transaction of their own"));
    }
    this.#serve({
      serve: (connection) => connection.run(query),
      refuse: (error) => query.reject(error),
    });
  }

  /** Takes a connection for one transaction. What already runs on it finishes first. */
  claim(): Promise<Connection> {
    return new Promise((resolve, reject) =>
      this.#serve({
        serve(connection) {
          connection.claim();
          resolve(connection);
        },
        refuse: reject,
      })
    );
  }

  release(connection: Connection): void {
    connection.release();
    this.#pump();
  }

  /** Waits for running queries for a limited time, and closes every connection. */
  async end(timeoutMs: number): Promise<void> {
    this.#ending ??= Promise.withResolvers();
    const timer = setTimeout(this.#ending.resolve, timeoutMs);
    this.#pump();
    await this.#ending.promise;
    clearTimeout(timer);
    this.#ended = true;
    for (const waiter of this.#waiting.splice(0)) waiter.refuse(ended());
    await Promise.all(
      [...this.#connections].map((connection) =>
        connection.exclusive ? connection.destroy() : connection.end()
      ),
    );
  }

  #serve(waiter: Waiter): void {
    if (this.#ending !== null) return waiter.refuse(ended());
    this.#waiting.push(waiter);
    this.#pump();
  }

  #pump(): void {
    for (const connection of this.#connections) {
      if (connection.isDead) this.#connections.delete(connection);
    }
    let connection: Connection | null;
    while (this.#waiting.length > 0 && (connection = this.#pick()) !== null) {
      this.#waiting.shift()!.serve(connection);
    }
    this.#grow();
    if (this.#ending !== null && this.#isQuiet()) this.#ending.resolve();
  }

  /** An idle connection; a busy one only if no more can be opened. */
  #pick(): Connection | null {
    let best: Connection | null = null;
    for (const connection of this.#connections) {
      if (!connection.exclusive && (best === null || connection.load < best.load)) {
        best = connection;
      }
    }
    return best === null || best.load === 0 || !this.#canGrow() ? best : null;
  }

  #canGrow(): boolean {
    if (this.#failure !== null) {
      // One attempt at a time shows whether the database is back.
      return this.#opening === 0 && performance.now() >= this.#failure.retryAt;
    }
    return this.#connections.size + this.#opening < this.max;
  }

  #grow(): void {
    while (this.#opening < this.#waiting.length && this.#canGrow()) void this.#openOne();
    if (this.#failure === null || this.#connections.size > 0) return;
    // There is no connection: only the request that started the current attempt waits for it.
    const { error } = this.#failure;
    for (const waiter of this.#waiting.splice(this.#opening)) waiter.refuse(again(error));
  }

  async #openOne(): Promise<void> {
    this.#opening++;
    try {
      const connection = await this.open(() => this.#pump());
      if (this.#ended) return connection.destroy();
      this.#connections.add(connection);
      this.#failure = null;
    } catch (error) {
      this.#failure = { error: error as Error, retryAt: performance.now() + RETRY_MS };
    }
    this.#opening--;
    this.#pump();
  }

  #isQuiet(): boolean {
    if (this.#waiting.length > 0 || this.#opening > 0) return false;
    return [...this.#connections].every((connection) =>
      connection.load === 0 && !connection.exclusive
    );
  }
}

/** The same error for another request, as its own object. */
function again(error: Error): Error {
  const { code } = error as { code?: string };
  return Object.assign(new Error(error.message, { cause: error }), { code });
}

function ended(): ConnectionError {
  return new ConnectionError("CONNECTION_ENDED", "The database has been closed");
}
