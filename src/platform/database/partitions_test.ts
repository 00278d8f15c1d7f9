import assert from "node:assert/strict";
import type postgres from "postgres";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { maintainPartitions, type PartitionedTable } from "./partitions.ts";

/** The embedded database has one session. */
const ON_SERVER = { ignore: Deno.env.get("TEST_STORE") === "embedded" };
const DAYS: PartitionedTable = { table: "note", column: "written_at", every: "day", ahead: 2 };
const MONTHS: PartitionedTable = { ...DAYS, every: "month", ahead: 1 };
const NOW = new Date("2026-12-31T23:59:00Z");

async function openNotes() {
  await using parts = new AsyncDisposableStack();
  const store = parts.use(await freshDatabase());
  const database = parts.use(await store.open());
  const { sql } = database;
  await sql.unsafe(`
    create table note (written_at timestamptz not null, text text not null, primary key (written_at, text))
      partition by range (written_at);
    create table note_default partition of note default;
    create index note_text on note (text)`);
  const closing = parts.move();
  return {
    sql,
    write: (at: string, text: string) => sql`insert into note values (${at}, ${text})`,
    partitions: async () =>
      (await sql<{ name: string }[]>`
        select relname as name from pg_class
         where relname like 'note%' and relispartition and relkind = 'r' order by 1`)
        .map(({ name }) => name),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** Texts of notes with the partition that each is in. */
async function places(sql: postgres.Sql): Promise<Record<string, string>> {
  const rows = await sql<{ text: string; place: string }[]>`
    select text, tableoid::regclass::text as place from note order by written_at`;
  return Object.fromEntries(rows.map(({ text, place }) => [text, place]));
}

Deno.test("the current and the next days get a partition each, once", async () => {
  await using notes = await openNotes();
  const first = await maintainPartitions(notes.sql, DAYS, { keepSince: null, now: NOW });
  const created = ["note_20261231", "note_20270101", "note_20270102"];
  assert.deepEqual(first, { created, dropped: [] });
  assert.deepEqual(await notes.partitions(), [...created, "note_default"]);
  const second = await maintainPartitions(notes.sql, DAYS, { keepSince: null, now: NOW });
  assert.deepEqual(second, { created: [], dropped: [] });
  await notes.write("2026-12-31T23:59:59.999Z", "last of the day");
  await notes.write("2027-01-01T00:00:00Z", "first of the year");
  assert.deepEqual(await places(notes.sql), {
    "last of the day": "note_20261231",
    "first of the year": "note_20270101",
  });
});

Deno.test("months are partitions by calendar month, also from the last day of a long one", async () => {
  await using notes = await openNotes();
  const now = new Date("2026-01-31T12:00:00Z");
  const { created } = await maintainPartitions(notes.sql, MONTHS, { keepSince: null, now });
  assert.deepEqual(created, ["note_202601", "note_202602"]);
  await notes.write("2026-02-28T23:59:59Z", "February");
  assert.deepEqual(await places(notes.sql), { February: "note_202602" });
});

Deno.test("a row without a partition is written all the same, and moved when its partition is made", async () => {
  await using notes = await openNotes();
  await notes.write("2026-12-31T10:00:00Z", "today");
  await notes.write("2027-05-01T10:00:00Z", "far ahead");
  assert.deepEqual(await places(notes.sql), { today: "note_default", "far ahead": "note_default" });
  await maintainPartitions(notes.sql, DAYS, { keepSince: null, now: NOW });
  assert.deepEqual(await places(notes.sql), {
    today: "note_20261231",
    "far ahead": "note_default",
  });
  // The new partition has the indexes of its table.
  const indexes = await notes.sql`select from pg_indexes where tablename = 'note_20261231'`;
  assert.equal(indexes.length, 2);
});

Deno.test("periods that are over their time are dropped, and so are late rows of such a time", async () => {
  await using notes = await openNotes();
  for (const day of ["2026-12-28", "2026-12-29", "2026-12-30"]) {
    const now = new Date(`${day}T00:00:00Z`);
    await maintainPartitions(notes.sql, { ...DAYS, ahead: 0 }, { keepSince: null, now });
    await notes.write(`${day}T12:00:00Z`, day);
  }
  await notes.write("2026-12-01T12:00:00Z", "late");
  const keepSince = new Date("2026-12-29T18:00:00Z");
  const { dropped } = await maintainPartitions(notes.sql, DAYS, { keepSince, now: NOW });
  assert.deepEqual(dropped, ["note_20261228"]);
  // A day goes as a whole, when all of it is too old.
  assert.deepEqual(Object.keys(await places(notes.sql)), ["2026-12-29", "2026-12-30"]);
});

Deno.test("nodes that do it at once do it once, and none fails", async () => {
  await using notes = await openNotes();
  await notes.write("2026-12-31T10:00:00Z", "today");
  const rounds = await Promise.all(
    Array.from(
      { length: 4 },
      () => maintainPartitions(notes.sql, DAYS, { keepSince: null, now: NOW }),
    ),
  );
  const created = rounds.flatMap((round) => round.created).sort();
  assert.deepEqual(created, ["note_20261231", "note_20270101", "note_20270102"]);
  assert.deepEqual(await places(notes.sql), { today: "note_20261231" });
});

Deno.test(
  "a table that is in use is left alone after a moment, and done in a later round",
  ON_SERVER,
  async () => {
    await using notes = await openNotes();
    const old = new Date("2026-12-01T12:00:00Z");
    await maintainPartitions(notes.sql, { ...DAYS, ahead: 0 }, { keepSince: null, now: old });
    const round = () => maintainPartitions(notes.sql, DAYS, { keepSince: NOW, now: NOW });
    const reading = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const reader = notes.sql.begin(async (tx) => {
      await tx`select count(*) from note`;
      held.resolve();
      await reading.promise;
    });
    await held.promise;
    const started = performance.now();
    await assert.rejects(round(), { code: "55P03" });
    assert.ok(performance.now() - started < 5_000);
    reading.resolve();
    await reader;
    assert.deepEqual((await round()).dropped, ["note_20261201"]);
  },
);
