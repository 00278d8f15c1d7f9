import assert from "node:assert/strict";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { retryConflicts } from "./retry_conflicts.ts";
import { isRetryable, isStorageDown, isStorageUnavailable } from "./storage_error.ts";
import { sleep } from "../../lib/timers.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

async function openFresh() {
  const fresh = await freshDatabase();
  const database = await fresh.open();
  await database.sql`create table note (id int primary key, tags text[], body jsonb)`;
  return {
    ...database,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await fresh[Symbol.asyncDispose]();
    },
  };
}

Deno.test(
  "queries, fragments and the helpers of postgres.js work as they do there",
  STRICT,
  async () => {
    await using database = await openFresh();
    const { sql } = database;
    await sql`insert into note ${sql([{ id: 1, tags: ["a", "b"], body: sql.json({ x: 1 }) }])}`;
    await sql`insert into note (id, tags) values (${2}, ${sql.array(["c"])})`;
    await sql`insert into note (id) select * from unnest(${sql.array([3, 4], 23)}::int[])`;
    await sql.unsafe("update note set body = $1 where id = $2", [{ x: 2 }, 2]);
    const few = sql`id < ${3}`;
    const rows = await sql`select * from ${sql("note")} where ${few} and id in ${
      sql([1, 2, 3])
    } order by id`;
    assert.deepEqual([...rows], [
      { id: 1, tags: ["a", "b"], body: { x: 1 } },
      { id: 2, tags: ["c"], body: { x: 2 } },
    ]);
    assert.equal(rows.count, 2);
    assert.deepEqual([...await sql`select id from note where id = ${3}`.values()], [[3]]);
  },
);

Deno.test("numeric and int8 come out as text, timestamps as dates", STRICT, async () => {
  await using database = await openFresh();
  const [row] = await database.sql`
    select 0.1::numeric(38, 12) as amount, 9007199254740993::int8 as big, now() as at, 7 as small`;
  assert.equal(row!.amount, "0.100000000000");
  assert.equal(row!.big, "9007199254740993");
  assert.equal(row!.small, 7);
  assert.ok(row!.at instanceof Date);
});

Deno.test(
  "a transaction is committed completely, or rolled back completely if its work throws",
  STRICT,
  async () => {
    await using database = await openFresh();
    const { sql } = database;
    const answer = await sql.begin(async (tx) => {
      await tx`insert into note (id) values (1)`;
      return "kept";
    });
    assert.equal(answer, "kept");
    await assert.rejects(
      sql.begin(async (tx) => {
        await tx`insert into note (id) values (2)`;
        throw new Error("changed my mind");
      }),
      new Error("changed my mind"),
    );
    assert.deepEqual([...await sql`select id from note`], [{ id: 1 }]);
  },
);

Deno.test(
  "a query that failed inside a transaction fails it, even when overlooked",
  STRICT,
  async () => {
    await using database = await openFresh();
    const { sql } = database;
    await assert.rejects(
      sql.begin(async (tx) => {
        await tx`insert into note (id) values (1)`;
        await tx`insert into note (id) values (1)`.catch(() => undefined);
      }),
      { code: "23505" },
    );
    await assert.rejects(
      sql.begin(async (tx) => {
        await tx`insert into note (id) values (1)`;
        tx`insert into note (id) values (1)`.catch(() => undefined); // not awaited
      }),
      /rolled back/,
    );
    assert.equal((await sql`select from note`).length, 0);
  },
);

Deno.test("a savepoint undoes a part and leaves the rest", STRICT, async () => {
  await using database = await openFresh();
  const { sql } = database;
  await sql.begin(async (tx) => {
    await tx`insert into note (id) values (1)`;
    await assert.rejects(tx.savepoint((part) => part`insert into note (id) values (1)`), {
      code: "23505",
    });
    await tx.savepoint((part) => part`insert into note (id) values (2)`);
  });
  assert.deepEqual([...await sql`select id from note order by id`], [{ id: 1 }, { id: 2 }]);
});

Deno.test("a transaction cannot be used after its end", STRICT, async () => {
  await using database = await openFresh();
  const { sql } = database;
  const [tx] = await sql.begin((tx) =>
    Promise.resolve([() => tx`insert into note (id) values (1)`])
  );
  await assert.rejects(async () => await tx!(), /transaction is over/);
  assert.equal((await sql`select from note`).length, 0);
});

Deno.test("more transactions than connections wait for each other", STRICT, async () => {
  await using database = await openFresh();
  const { sql } = database;
  await sql`insert into note (id, body) values (1, '0')`;
  await Promise.all(
    Array.from({ length: 40 }, () =>
      sql.begin(async (tx) => {
        const [row] = await tx`select body::text::int as n from note where id = 1 for update`;
        await tx`update note set body = ${row!.n + 1} where id = 1`;
      })),
  );
  assert.deepEqual([...await sql`select body from note`], [{ body: 40 }]);
});

Deno.test("a cursor reads a large result in pieces, inside a transaction", STRICT, async () => {
  await using database = await openFresh();
  const { sql } = database;
  let seen = 0;
  await sql.begin(async (tx) => {
    for await (const rows of tx`select generate_series(1, 250)`.cursor(100)) seen += rows.length;
  });
  assert.equal(seen, 250);
  await assert.rejects(async () => {
    for await (const _ of sql`select 1`.cursor(1));
  }, /need a transaction/);
  assert.equal((await sql`select 1`).length, 1);
});

Deno.test("a failing query does not disturb those sent with it", STRICT, async () => {
  await using database = await openFresh();
  const { sql } = database;
  const outcomes = await Promise.all(
    Array.from(
      { length: 60 },
      (_, i) =>
        (i % 3 === 0 ? sql`select no_such_column` : sql`select ${i}::int as i`).then(
          ([row]) => row!.i,
          (error) => error.code,
        ),
    ),
  );
  assert.deepEqual(outcomes, outcomes.map((_, i) => i % 3 === 0 ? "42703" : i));
});

Deno.test("a closed database refuses, and closing waits for what runs", STRICT, async () => {
  await using database = await openFresh();
  const { sql } = database;
  await sql`select 1`;
  const running = sql.begin(async (tx) => {
    await tx`select pg_sleep(0.1)`;
    return await tx`select 1 as one`;
  });
  await sleep(30);
  await sql.end();
  assert.deepEqual([...await running], [{ one: 1 }]);
  await assert.rejects(async () => await sql`select 1`, (error) => isStorageDown(error));
});

Deno.test(
  "a statement whose columns a migration changed runs again; its transaction is retryable",
  STRICT,
  async () => {
    await using database = await openFresh();
    const { sql } = database;
    // One connection is used for all of this: it is the only one that was ever needed.
    const read = () => sql.begin(async (tx) => [...await tx`select * from note where id = ${1}`]);
    await sql`insert into note (id) values (1)`;
    for (let times = 0; times < 3; times++) {
      await sql`select * from note where id = ${1}`;
      await read();
    }
    await sql`alter table note add column added int`;
    const [row] = await sql`select * from note where id = ${1}`;
    assert.equal(row!.added, null, "outside of a transaction the driver repeats it");
    await sql`alter table note add column later int`;
    const error = await read().then(() => null, (error) => error);
    assert.match(String(error), /cached plan must not change result type/);
    assert.ok(isRetryable(error) && isStorageUnavailable(error) && !isStorageDown(error));
    assert.equal((await retryConflicts(read))[0]!.later, null);
    await sql`alter table note add column last int`;
    assert.equal((await retryConflicts(read))[0]!.last, null);
    assert.ok(!isRetryable(Object.assign(new Error("not supported"), { code: "0A000" })));
  },
);
