import type postgres from "postgres";
import type { Connection } from "./connection.ts";
import { listen } from "./listen.ts";
import { Pool } from "./pool.ts";
import { makeSql, missing } from "./sql.ts";
import { runTransaction, type Work } from "./transaction.ts";

/**
 * The `sql` that the rest of the gateway uses. Queries are built by postgres.js and run on our own connections.
 *
 * `template` never connects: it builds queries and has the types that its connections read.
 */
export function makePooledSql(
  template: postgres.Sql,
  open: (onChange: () => void, onNotify?: (payload: string) => void) => Promise<Connection>,
  max: number,
): postgres.Sql {
  const pool = new Pool(open, max);
  const listening = new Set<() => Promise<void>>();

  async function begin<T>(...args: [string, Work<T>] | [Work<T>]): Promise<T> {
    const [mode, work] = args.length === 1 ? ["", args[0]] as const : args;
    const connection = await pool.claim();
    try {
      return await runTransaction(connection, template, mode, work);
    } finally {
      pool.release(connection);
    }
  }
  async function end(options?: { timeout?: number }): Promise<void> {
    await Promise.all([...listening].map((unlisten) => unlisten()));
    await pool.end((options?.timeout ?? 5) * 1000);
  }
  const { CLOSE, END, PostgresError, options, parameters } = template;
  return Object.assign(makeSql(template, (query) => pool.run(query)), {
    begin,
    end,
    async listen(channel: string, onNotify: (payload: string) => void, onListen?: () => void) {
      // The embedded database's only connection cannot be reserved for listening.
      if (max === 1) throw new Error("This database has one connection and cannot listen");
      const unlisten = await listen({ open, channel, onNotify, onListen });
      listening.add(unlisten);
      return {
        async unlisten() {
          listening.delete(unlisten);
          await unlisten();
        },
      };
    },
    reserve: missing("reserve"),
    subscribe: missing("subscribe"),
    largeObject: missing("largeObject"),
    ...{ CLOSE, END, PostgresError, options, parameters },
  }) as unknown as postgres.Sql;
}
