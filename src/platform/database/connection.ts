import type { Duplex } from "node:stream";
import postgres from "postgres";
import { ConnectionError } from "./storage_error.ts";

/**
 * A query of postgres.js, with the parts that decide where it runs. They are not in its published
 * types; `sql_test.ts` fails should an upgrade move them.
 */
export interface Query extends Promise<unknown> {
  handler: (query: Query) => void;
  reject(error: unknown): void;
  cancelled: unknown;
  cursorFn?: unknown;
  streaming?: boolean;
}

// deno-lint-ignore no-explicit-any -- as in Node's types of an event's listener
type Listener = (...args: any[]) => void;

/**
 * One connection, used until it breaks and then discarded.
 *
 * postgres.js would reconnect by itself, but in version 3.4 a connection that is lost inside a
 * transaction ends the process (it writes the rollback to no socket), and what the lost transaction
 * still sends can land in another's. So each connection gets an instance of its own that never
 * connects twice, and the pool is ours.
 */
export class Connection {
  readonly #sql: postgres.Sql;
  readonly #start: (query: Query) => void;
  readonly #running = new Set<Query>();
  #exclusive = false;
  #isOpen = false;
  #lost: ConnectionError | null = null;

  constructor(
    readonly socket: Duplex,
    driver: postgres.ParsedOptions,
    private readonly onChange: () => void,
  ) {
    // Our handlers run first: when the driver rejects its queries, the connection already counts as dead.
    socket.on("error", (error) => this.#die(error));
    socket.on("close", () => this.#die());
    this.#keepFromDriver(["error", "close"]);
    let given = false;
    this.#sql = postgres({
      ...driver,
      max: 1,
      no_subscribe: true,
      socket: () => {
        if (given) throw this.#lost ?? new ConnectionError("CONNECTION_CLOSED", "closed");
        given = true;
        return socket;
      },
    } as unknown as postgres.Options<Record<never, never>>);
    this.#start = (this.#sql`` as unknown as Query).handler;
  }

  /** Resolves when the server has answered for the first time. */
  async open(): Promise<void> {
    await this.execute("select 1");
    this.#isOpen = true;
  }

  get isDead(): boolean {
    return this.#lost !== null;
  }

  get load(): number {
    return this.#running.size;
  }

  /** Reserved by one transaction. */
  get exclusive(): boolean {
    return this.#exclusive;
  }

  claim(): void {
    this.#exclusive = true;
  }

  release(): void {
    this.#exclusive = false;
    // A commit comes after all queries of its transaction; cursors do not report their end.
    this.#running.clear();
  }

  run(query: Query): void {
    if (query.cancelled) return;
    if (this.#lost !== null) {
      return query.reject(lostConnection(this.#lost.cause as Error | undefined));
    }
    this.#running.add(query);
    const done = () => {
      this.#running.delete(query);
      if (this.#running.size === 0) this.onChange();
    };
    query.then(done, done);
    this.#start(query);
  }

  /** Runs a statement such as `begin` and returns Postgres' command tag. */
  async execute(text: string): Promise<string> {
    const query = this.#sql.unsafe(text);
    (query as unknown as Query).handler = (query) => this.run(query);
    return (await query).command;
  }

  /** Ends the session after running queries; closes the socket if that takes over a second. */
  async end(): Promise<void> {
    if (this.#lost === null) await this.#sql.end({ timeout: 1 });
    this.destroy();
  }

  destroy(cause?: Error): void {
    this.#die(cause);
  }

  /**
   * The driver does not learn of these events during its handshake: at the end of the socket it would reconnect,
   * and its query for the array types would end in an unhandled rejection.
   */
  #keepFromDriver(events: string[]): void {
    const { socket } = this;
    const listen = socket.on.bind(socket) as (event: string, listener: Listener) => Duplex;
    socket.on = (event: string, listener: Listener) =>
      listen(
        event,
        events.includes(event) ? (...args) => this.#isOpen && listener(...args) : listener,
      );
  }

  #die(cause?: Error): void {
    if (this.#lost !== null) return;
    this.#lost = lostConnection(cause);
    this.socket.destroy();
    for (const query of this.#running) query.reject(lostConnection(cause));
    this.#running.clear();
    this.onChange();
  }
}

/** A new error each time: postgres.js adds the query to it. */
function lostConnection(cause?: Error): ConnectionError {
  const reason = cause === undefined ? "" : `: ${cause.message}`;
  const message = `The connection to the database was lost${reason}`;
  return new ConnectionError("CONNECTION_CLOSED", message, { cause });
}
