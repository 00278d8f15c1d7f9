import assert from "node:assert/strict";
import { FAST, startPostgres } from "../../../scripts/postgres.ts";
import { type Database, isStorageDown, openDatabase } from "./postgres.ts";
import { sleep } from "../../lib/timers.ts";
import { noLog } from "../../../test/helpers/logs.ts";

/** Only a server can go away by itself. */
const ON_SERVER = {
  sanitizeOps: true,
  sanitizeResources: true,
  ignore: Deno.env.get("TEST_STORE") === "embedded",
};

async function openOwnServer() {
  // Without waiting for the disk, but not forgetting what it confirmed when it is killed.
  const server = await startPostgres({ settings: { ...FAST, synchronous_commit: "on" } });
  const database = await openDatabase({ databaseUrl: server.url, dataDir: "unused", log: noLog });
  return {
    server,
    database,
    sql: database.sql,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await server.stop();
    },
  };
}

/** Runs until it succeeds; what it fails with on the way must be that the database is away. */
async function untilBack<T>(work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + 5_000;
  while (true) {
    try {
      return await work();
    } catch (error) {
      assert.ok(isStorageDown(error), String(error));
      assert.ok(performance.now() < giveUpAt, "the pool did not recover");
      await sleep(20);
    }
  }
}

Deno.test(
  "while the server is away every query fails at once, and works again when it is back",
  ON_SERVER,
  async () => {
    await using own = await openOwnServer();
    const { sql, server, database } = own;
    const running = Promise.allSettled(Array.from({ length: 30 }, () => sql`select pg_sleep(5)`));
    await sleep(100);
    await server.kill();
    for (const outcome of await running) {
      assert.equal(outcome.status, "rejected");
      assert.ok(isStorageDown(outcome.reason), String(outcome.reason));
    }
    // Far more than there are connections: no query may wait for the attempts of others.
    const started = performance.now();
    const queries = Array.from({ length: 500 }, () => sql`select 1`);
    const transactions = Array.from({ length: 100 }, () => sql.begin((tx) => tx`select 1`));
    for (const outcome of await Promise.allSettled([...queries, ...transactions])) {
      assert.equal(outcome.status, "rejected");
      assert.ok(isStorageDown(outcome.reason), String(outcome.reason));
    }
    assert.ok(performance.now() - started < 2_000, "refusing took too long");
    await assert.rejects(database.ping(), (error) => isStorageDown(error));

    await server.restart();
    await untilBack(() => sql`select 1`);
    await Promise.all(Array.from({ length: 100 }, () => sql`select ${1}::int`));
    await database.ping();
  },
);

Deno.test(
  "a transaction whose connection is lost fails, and touches no other transaction",
  ON_SERVER,
  async () => {
    await using own = await openOwnServer();
    const { sql } = own;
    await sql`create table entry (who text)`;
    const lost = Promise.withResolvers<void>();
    const hangUp = async (pid: number) => {
      await sql`select pg_terminate_backend(${pid})`;
      await sleep(50);
    };
    const first = sql.begin(async (tx) => {
      await tx`insert into entry values ('first')`;
      const [row] = await tx`select pg_backend_pid() as pid`;
      await hangUp(row!.pid);
      lost.resolve();
      await sleep(100); // others reuse whatever is free
      await tx`insert into entry values ('first, late')`;
    });
    first.catch(() => undefined);
    await lost.promise;
    const others = Array.from({ length: 30 }, (_, i) =>
      sql.begin(async (tx) => {
        await sleep(i);
        await tx`insert into entry values ('other')`;
        await sleep(50);
      }));
    await assert.rejects(first, (error) => isStorageDown(error));
    await Promise.all(others);
    assert.deepEqual([...await sql`select who, count(*)::int as n from entry group by who`], [
      { who: "other", n: 30 },
    ]);
  },
);

Deno.test(
  "a connection lost in the middle of a statement of a transaction fails only that one",
  ON_SERVER,
  async () => {
    await using own = await openOwnServer();
    const { sql } = own;
    const pid = Promise.withResolvers<number>();
    const stuck = sql.begin(async (tx) => {
      const [row] = await tx`select pg_backend_pid() as pid`;
      pid.resolve(row!.pid);
      await tx`select pg_sleep(5)`;
    });
    // It may fail before it is awaited.
    stuck.catch(() => undefined);
    const beside = sql.begin((tx) => tx`select pg_sleep(0.2)`);
    await sleep(20);
    await sql`select pg_terminate_backend(${await pid.promise})`;
    await assert.rejects(stuck, (error) => isStorageDown(error));
    await beside;
    assert.equal((await sql`select 1`).length, 1);
  },
);

Deno.test(
  "nothing is lost or stuck when the server is killed under load, again and again",
  ON_SERVER,
  async () => {
    await using own = await openOwnServer();
    const { sql, server } = own;
    await sql`create table entry (id int primary key)`;
    const kept: number[] = [];
    let next = 0;
    let stop = false;
    const worker = async (inTransaction: boolean) => {
      while (!stop) {
        const id = next++;
        try {
          if (inTransaction) await sql.begin((tx) => tx`insert into entry values (${id})`);
          else await sql`insert into entry values (${id})`;
          kept.push(id);
        } catch (error) {
          assert.ok(isStorageDown(error), String(error));
          await sleep(5);
        }
      }
    };
    const workers = Array.from({ length: 40 }, (_, i) => worker(i % 2 === 0));
    for (let round = 0; round < 3; round++) {
      await sleep(200);
      await server.restart();
      const before = kept.length;
      await untilBack(() => sql`select 1`);
      while (kept.length === before) await sleep(10);
    }
    stop = true;
    await Promise.all(workers);
    const stored = new Set((await sql`select id from entry`).map((row) => row.id));
    assert.deepEqual(kept.filter((id) => !stored.has(id)), []);
  },
);

Deno.test(
  "a listener reconnects after the server was away, and is notified",
  ON_SERVER,
  async () => {
    await using own = await openOwnServer();
    const { sql, server } = own;
    const heard: string[] = [];
    let listening = 0;
    const { unlisten } = await sql.listen("news", (text) => heard.push(text), () => listening++);
    await sql.notify("news", "one");
    while (heard.length < 1) await sleep(5);
    await server.restart();
    while (listening < 2) await sleep(20);
    await untilBack(() => sql.notify("news", "two"));
    while (heard.length < 2) await sleep(5);
    await unlisten();
    await sql.notify("news", "three");
    await sleep(50);
    assert.deepEqual(heard, ["one", "two"]);
  },
);

Deno.test(
  "a server that accepts but never answers is given up after some seconds",
  ON_SERVER,
  async () => {
    const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const accepted: Deno.Conn[] = [];
    const accepting = (async () => {
      for await (const connection of silent) accepted.push(connection);
    })();
    const started = performance.now();
    await assert.rejects(
      openDatabase({
        databaseUrl: `postgres://127.0.0.1:${silent.addr.port}/x`,
        dataDir: "unused",
        log: noLog,
        waitSeconds: 1,
      }),
      { name: "StorageError", message: /does not answer/ },
    );
    assert.ok(performance.now() - started < 8_000);
    silent.close();
    await accepting;
    for (const connection of accepted) connection.close();
  },
);

Deno.test(
  "a proxy without a server is reported at once, not retried for ever",
  ON_SERVER,
  async () => {
    let attempts = 0;
    const proxy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const accepting = (async () => {
      for await (const connection of proxy) {
        attempts++;
        connection.close();
      }
    })();
    let database: Database | undefined;
    await assert.rejects(
      async () =>
        database = await openDatabase({
          databaseUrl: `postgres://127.0.0.1:${proxy.addr.port}/x`,
          dataDir: "unused",
          log: noLog,
          waitSeconds: 1,
        }),
      { name: "StorageError" },
    );
    assert.equal(database, undefined);
    assert.ok(attempts < 10, `${attempts} attempts in a second`);
    proxy.close();
    await accepting;
    await sleep(20); // the driver begins with a timer of 0 ms, which may outlive the connection
  },
);
