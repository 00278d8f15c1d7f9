import assert from "node:assert/strict";
import { DURABLE, startPostgres } from "../../../scripts/postgres.ts";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { until } from "../../../test/helpers/chat_gateway.ts";
import type { Database } from "../database/database.ts";
import { openDatabase } from "../database/postgres.ts";
import { GraphileQueue, migrateQueue } from "./graphile_queue.ts";
import type { JobHandler, NextStep } from "./queue.ts";
import { sleep } from "../../lib/timers.ts";
import { noLog, recordLog } from "../../../test/helpers/logs.ts";

interface Node extends AsyncDisposable {
  queue: GraphileQueue;
  steps: string[];
  logged: string[];
}

interface Ground extends AsyncDisposable {
  database: Database;
  databaseUrl: string;
  /** A table of work to be done stands in for tasks. */
  due(): Promise<string[]>;
  open(options?: { slots?: number; step?: (id: string) => Promise<NextStep> }): Node;
}

/** Nodes on one database, and a table of work whose rows are due until they are done. */
async function openGround(): Promise<Ground> {
  await using parts = new AsyncDisposableStack();
  const store = parts.use(await freshDatabase());
  const database = parts.use(await store.open());
  const { sql } = database;
  const databaseUrl = store.databaseUrl!;
  await migrateQueue(sql, databaseUrl);
  await sql`create table work (id text primary key, is_done boolean not null default false)`;
  const due = async (limit = 1_000) => {
    const rows = await sql<{ id: string }[]>`
      select id from work where not is_done order by id limit ${limit}`;
    return rows.map(({ id }) => id);
  };
  const closing = parts.move();
  return {
    database,
    databaseUrl,
    due,
    open({ slots = 4, step } = {}) {
      const [steps, logged]: string[][] = [[], []];
      const queue = new GraphileQueue({
        sql,
        databaseUrl,
        log: recordLog((level, message, fields) =>
          logged!.push(`${level} ${message} ${fields?.error ?? ""}`)
        ),
      });
      const worker: JobHandler = {
        slots,
        async step(id) {
          steps!.push(id);
          const next = await (step?.(id) ?? "done");
          if (next === "done") await sql`update work set is_done = true where id = ${id}`;
          return next;
        },
        due: () => Promise.resolve([]),
      };
      queue.start(new Map([["work", worker]]));
      closing.use(queue);
      return {
        queue,
        steps: steps!,
        logged: logged!,
        [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
      };
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

async function add({ database: { sql } }: Ground, { queue }: Node, id: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`insert into work (id) values (${id})`;
    await queue.enqueueInTransaction(tx, [{ kind: "work", id }]);
  });
  queue.notify({ kind: "work", id });
}

const STRICT = { sanitizeOps: true, sanitizeResources: true };

const jobs = async ({ database: { sql } }: Ground) =>
  (await sql`select from graphile_worker.jobs`).length;

Deno.test(
  "work wakes a node when its transaction commits, and never when it is rolled back",
  STRICT,
  async () => {
    await using ground = await openGround();
    const node = ground.open();
    await add(ground, node, "kept");
    await assert.rejects(ground.database.sql.begin(async (tx) => {
      await node.queue.enqueueInTransaction(tx, [{ kind: "work", id: "lost" }]);
      throw new Error("rolled back");
    }));
    await until("the step has run", async () => (await ground.due()).length === 0, 20);
    await until("the job is gone", async () => await jobs(ground) === 0, 20);
    assert.deepEqual(node.steps, ["kept"]);
  },
);

Deno.test(
  "notifications of one row collapse to one job, and one during a step repeats it",
  STRICT,
  async () => {
    await using ground = await openGround();
    const started = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const node = ground.open({
      slots: 1,
      async step(id) {
        if (id === "first") {
          started.resolve();
          await go.promise;
        }
        return "done";
      },
    });
    await add(ground, node, "first");
    await started.promise;
    for (let i = 0; i < 5; i++) node.queue.notify({ kind: "work", id: "second" });
    node.queue.notify({ kind: "work", id: "first" });
    await until("the job of the second is there", async () => await jobs(ground) >= 2, 20);
    go.resolve();
    await until("nothing is left", async () => await jobs(ground) === 0, 20);
    assert.deepEqual(node.steps.filter((id) => id === "second"), ["second"]);
    assert.ok(node.steps.filter((id) => id === "first").length >= 2, String(node.steps));
  },
);

Deno.test("a step that asks for another look gets it, soon or later", STRICT, async () => {
  await using ground = await openGround();
  let looks = 0;
  const node = ground.open({
    step: () => Promise.resolve(++looks < 4 ? { againInMs: looks === 2 ? 2_100 : 10 } : "done"),
  });
  await add(ground, node, "patient");
  await until("it is done", async () => (await ground.due()).length === 0, 30);
  assert.equal(looks, 4);
});

/** A worker of the library that is stopped while it polls leaves a timer of up to five seconds: waits until it is over. */
const untilLastPoll = (work: () => Promise<void>) => async () => {
  await work();
  await sleep(6_000);
};

Deno.test(
  "three nodes share the work, each row is done, and who drains leaves nothing behind",
  STRICT,
  untilLastPoll(async () => {
    await using ground = await openGround();
    const done = new Map<string, number>();
    const step = async (id: string): Promise<NextStep> => {
      await sleep(5);
      done.set(id, (done.get(id) ?? 0) + 1);
      return "done";
    };
    const nodes = [ground.open({ step }), ground.open({ step }), ground.open({ step })];
    await ground.database.sql.begin(async (tx) => {
      await tx`insert into work (id) select 'w' || n from generate_series(1, 300) n`;
      for (let n = 1; n <= 300; n++) {
        await nodes[0]!.queue.enqueueInTransaction(tx, [{ kind: "work", id: `w${n}` }]);
      }
    });
    await until("a third is done", () => done.size > 100, 30);
    await nodes[2]![Symbol.asyncDispose]();
    await until("all is done", async () => (await ground.due()).length === 0, 60);
    await until("no job is left", async () => await jobs(ground) === 0, 30);
    assert.equal(done.size, 300);
    assert.ok([...done.values()].every((times) => times === 1), "each row once");
    for (const { steps } of nodes) assert.ok(steps.length > 0, "every node had its part");
  }),
);

Deno.test("ten nodes may make the queue's tables at once", STRICT, async () => {
  await using store = await freshDatabase();
  await using database = await store.open();
  await Promise.all(
    Array.from({ length: 10 }, () => migrateQueue(database.sql, store.databaseUrl!)),
  );
  const [row] = await database.sql`select count(*)::int as n from graphile_worker.migrations`;
  assert.ok(row!.n >= 18);
});

Deno.test(
  "the queue outlives a crash of its database and goes on by itself",
  STRICT,
  untilLastPoll(async () => {
    await using parts = new AsyncDisposableStack();
    // What tests usually set would lose the queue's own tables in the crash.
    const server = parts.use(await startPostgres({ settings: DURABLE }));
    const database = parts.use(
      await openDatabase({ databaseUrl: server.url, dataDir: "unused", log: noLog }),
    );
    await migrateQueue(database.sql, server.url);
    const steps: string[] = [];
    const queue = parts.use(
      new GraphileQueue({ sql: database.sql, databaseUrl: server.url, log: noLog }),
    );
    queue.start(
      new Map([["work", {
        slots: 2,
        step: (id) => (steps.push(id), Promise.resolve("done" as const)),
        due: async () => (await database.sql`select 1`, []),
      }]]),
    );
    const add = (id: string) =>
      database.sql.begin((tx) => queue.enqueueInTransaction(tx, [{ kind: "work", id }])).catch(() =>
        "away"
      );
    await add("before");
    await until("the first step has run", () => steps.includes("before"), 30);
    await server.kill();
    assert.equal(await add("meanwhile"), "away");
    await server.restart();
    await until("jobs can be added again", async () => await add("after") !== "away", 30);
    await until("and are done", () => steps.includes("after"), 60);
    assert.ok(!steps.includes("meanwhile"));
  }),
);

Deno.test(
  "who is woken to catch up comes back when nothing is due any more",
  STRICT,
  async () => {
    await using parts = new AsyncDisposableStack();
    const store = parts.use(await freshDatabase());
    const database = parts.use(await store.open());
    const databaseUrl = store.databaseUrl!;
    await migrateQueue(database.sql, databaseUrl);
    const due = new Set<string>();
    const queue = parts.use(new GraphileQueue({ sql: database.sql, databaseUrl, log: noLog }));
    queue.start(
      new Map([["work", {
        slots: 2,
        step: async (id) => {
          await sleep(1);
          due.delete(id);
          return "done" as const;
        },
        due: (limit) => Promise.resolve([...due].slice(0, limit)),
      }]]),
    );
    // Rows whose notification was lost while no node ran: more than one page of them.
    for (let n = 0; n < 50; n++) due.add(`row${n}`);
    await queue.catchUp(60_000);
    assert.equal(due.size, 0);
  },
);
