import type postgres from "postgres";
import type { EngineLimits } from "./embedded_thread.ts";
import type { Log } from "../telemetry/log.ts";

/** Executes statements: the pool, or one of its transactions. */
// deno-lint-ignore ban-types -- the type parameter postgres.js itself uses
export type Queries = postgres.ISql<{}>;

/** An open database: on a server, or embedded in this process. Disposing closes it. */
export interface Database extends AsyncDisposable {
  sql: postgres.Sql;
  kind: "server" | "embedded";
  /** Location for messages: `host:port/database` or a folder. Never a password. */
  describe: string;
  /** Resolves when the database responds, rejects within two seconds if it does not. */
  ping(): Promise<void>;
  /** Only of the embedded database, whose clock does not follow the system clock. */
  moveClock?(ms: number): void;
  /** Only of the embedded database: copies it while it runs, and returns the folder of the copy. */
  backup?(): Promise<string>;
}

export interface OpenOptions {
  /** A `postgres://` URL. Unset: the database is embedded, in `dataDir`. */
  databaseUrl?: string;
  dataDir: string;
  log: Pick<Log, "info">;
  /** How long to wait at start for a server that does not respond. */
  waitSeconds?: number;
  /** Connections to a server. The embedded database always has one. */
  connections?: number;
  /** Time limits of the embedded database that differ from the defaults. */
  engine?: Partial<EngineLimits>;
  /**
   * Called when the embedded database is in an endless loop. Deno cannot end a thread in one, and a second
   * engine on the same files would damage them: only a new process can open them again.
   */
  onStuck?: () => void;
}
