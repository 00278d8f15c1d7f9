import type postgres from "postgres";
import type { EngineLimits } from "./embedded_thread.ts";
import type { Log } from "../telemetry/log.ts";

/** Whatever takes statements: the pool, or a transaction of it. */
// deno-lint-ignore ban-types -- the type parameter postgres.js itself uses
export type Queries = postgres.ISql<{}>;

/** An open database: a server's, or the one inside this process. Disposing closes it. */
export interface Database extends AsyncDisposable {
  sql: postgres.Sql;
  kind: "server" | "embedded";
  /** Where the data is, for people: `host:port/database` or a folder. Never a password. */
  describe: string;
  /** Resolves when the database answers, rejects within two seconds when it does not. */
  ping(): Promise<void>;
  /** Of the embedded database, whose clock does not follow the system's by itself. */
  moveClock?(ms: number): void;
}

export interface OpenOptions {
  /** A `postgres://` address. Without one, the database lives in `dataDir`. */
  databaseUrl?: string;
  dataDir: string;
  log: Pick<Log, "info">;
  /** How long a server that does not answer at start is waited for. */
  waitSeconds?: number;
  /** Connections to a server. The embedded database always has one. */
  connections?: number;
  /** Time limits of the embedded database that differ from the usual ones. */
  engine?: Partial<EngineLimits>;
  /**
   * Called when the embedded database is in an endless loop. Deno cannot end a thread in one, and a second
   * engine on the same files would damage them: only a new process can open them again.
   */
  onStuck?: () => void;
}
