import type postgres from "postgres";
import type { Query } from "./connection.ts";

type Call = (...args: unknown[]) => unknown;

/** The query builder of postgres.js, except that `run` decides where queries go. */
export function makeSql(template: postgres.Sql, run: (query: Query) => void): postgres.ISql {
  const route = (made: unknown) => {
    if (made instanceof Promise) (made as Query).handler = run;
    return made;
  };
  const write = template as unknown as Call;
  const sql = (...args: unknown[]) => route(write(...args));
  const { unsafe, array, json, typed, types } = template;
  return Object.assign(sql, {
    unsafe: (...args: unknown[]) => route((unsafe as Call)(...args)),
    notify: (channel: string, payload: string) =>
      route(template`select pg_notify(${channel}, ${payload})`),
    file: missing("file"),
    ...{ array, json, typed, types },
  }) as unknown as postgres.ISql;
}

export function missing(name: string): () => never {
  return () => {
    throw new Error(`sql.${name} is not offered: it would bypass our own connections`);
  };
}
