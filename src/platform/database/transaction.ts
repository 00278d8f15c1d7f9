import type postgres from "postgres";
import type { Connection, Query } from "./connection.ts";
import { makeSql } from "./sql.ts";

export type Work<T> = (tx: postgres.TransactionSql) => T | Promise<T>;

/** Runs `work` between `begin` and `commit`, or `rollback` when it or any of its queries fails. */
export async function runTransaction<T>(
  connection: Connection,
  template: postgres.Sql,
  mode: string,
  work: Work<T>,
): Promise<T> {
  await connection.execute(`begin ${mode}`);
  try {
    const result = await runScope(connection, template, work);
    // A query that was not awaited may have failed: then Postgres answers ROLLBACK to a commit.
    const done = await connection.execute("commit");
    if (done !== "COMMIT") throw new Error("The transaction was rolled back: a query in it failed");
    return result;
  } catch (error) {
    // A connection that cannot roll back must not serve the next transaction.
    await connection.execute("rollback").catch(() => connection.destroy());
    throw error;
  }
}

let savepoints = 0;

async function runSavepoint<T>(
  connection: Connection,
  template: postgres.Sql,
  work: Work<T>,
): Promise<T> {
  const name = `savepoint_${++savepoints}`;
  await connection.execute(`savepoint ${name}`);
  try {
    const result = await runScope(connection, template, work);
    await connection.execute(`release savepoint ${name}`);
    return result;
  } catch (error) {
    await connection.execute(`rollback to savepoint ${name}`);
    throw error;
  }
}

async function runScope<T>(
  connection: Connection,
  template: postgres.Sql,
  work: Work<T>,
): Promise<T> {
  // Postgres refuses everything after a failed statement, so an error that `work` ignored counts.
  let failure: { error: unknown } | null = null;
  let open = true;
  const tx = makeSql(template, (query: Query) => {
    if (!open) return query.reject(new Error("This transaction is over"));
    query.catch((error) => failure ??= { error });
    connection.run(query);
  });
  const savepoint = <U>(first: string | Work<U>, second?: Work<U>) =>
    runSavepoint(connection, template, second ?? first as Work<U>);
  try {
    const made = work(Object.assign(tx, { savepoint }) as unknown as postgres.TransactionSql);
    const result = await (Array.isArray(made) ? Promise.all(made) : made);
    if (failure !== null) throw (failure as { error: unknown }).error;
    return result as T;
  } finally {
    open = false;
  }
}
