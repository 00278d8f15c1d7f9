import postgres from "postgres";
import { dial, type DialTarget } from "./dial.ts";
import { Connection } from "./connection.ts";
import { makePooledSql } from "./pooled_sql.ts";
import { ConnectionError } from "./storage_error.ts";

export interface DatabaseConnectOptions {
  target: DialTarget;
  max: number;
  database?: string | undefined;
  user?: string | undefined;
  password?: string | undefined;
  session?: Record<string, string>;
}

/** For the socket, and again for the first response on it. */
const TIMEOUT_MS = 5_000;

/** An `sql` for this database. Nothing is connected before it is used. */
export function connect({ target, max, ...options }: DatabaseConnectOptions): postgres.Sql {
  const template = postgres({
    // The dialer connects; the address is only for the driver's messages.
    ...("host" in target ? { host: target.host, port: target.port } : { path: nameOf(target) }),
    ...(options.database === undefined ? {} : { database: options.database }),
    ...(options.user === undefined ? {} : { user: options.user }),
    ...(options.password === undefined ? {} : { password: options.password }),
    connection: { application_name: "tollgate", ...options.session },
    max: 1,
    ssl: false,
    connect_timeout: 0,
    idle_timeout: 0,
    max_lifetime: null,
    backoff: 0, // a connection is never reopened, so the driver must not wait
    onnotice() {},
    socket: () => dial(target, TIMEOUT_MS), // for cancelling a query, which needs its own connection
  } as unknown as postgres.Options<Record<never, never>>);
  // The first connection reads the array types; all share them.
  let knowsTypes = false;

  async function open(
    onChange: () => void,
    onNotify?: (payload: string) => void,
  ): Promise<Connection> {
    const socket = await dial(target, TIMEOUT_MS);
    const connection = new Connection(socket, {
      ...template.options,
      fetch_types: !knowsTypes,
      ...(onNotify && { onnotify: (_channel: string, payload: string) => onNotify(payload) }),
    }, onChange);
    const late = new ConnectionError("CONNECT_TIMEOUT", "the server accepts but does not answer");
    const timer = setTimeout(() => connection.destroy(late), TIMEOUT_MS);
    try {
      await connection.open();
      knowsTypes = true;
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
  return makePooledSql(template, open, max);
}

function nameOf(target: Exclude<DialTarget, { host: string }>): string {
  return "path" in target ? target.path : target.name;
}
