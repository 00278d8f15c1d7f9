import assert from "node:assert/strict";
import type postgres from "postgres";
import { CHECKED_UNLESS_SHARED, shareDatabase } from "../../../test/helpers/share_database.ts";
import { newId } from "../../lib/ids.ts";
import {
  createPartitions,
  dropPartitions,
  listPartitions,
  type PartitionedTable,
} from "./partitions.ts";

/** The embedded database has one session. */
const ON_SERVER = { ...CHECKED_UNLESS_SHARED, ignore: Deno.env.get("TEST_STORE") === "embedded" };
const DAYS: PartitionedTable = {
  table: "note",
  column: "written_at",
  every: "day",
  ahead: 2,
  movesAtAnyTime: true,
};
const MONTHS: PartitionedTable = { ...DAYS, every: "month", ahead: 1 };
const NOW = new Date("2026-12-31T23:59:00Z");

const openDatabase = shareDatabase();

async function openNotes() {
  const database = await openDatabase();
  const { sql } = database;
  await sql.unsafe(`
    drop table if exists note cascade;
    create table note (written_at timestamptz not null, text text not null, primary key (written_at, text))
      partition by range (written_at);
    create table note_default partition of note default;
    create index note_text on note (text)`);
  return {
    sql,
    write: (at: string, text: string) => sql`insert into note values (${at}, ${text})`,
    partitions: async () =>
      (await sql<{ name: string }[]>`
        select relname as name from pg_class
         where relname like 'note%' and relispartition and relkind = 'r' order by 1`)
        .map(({ name }) => name),
    [Symbol.asyncDispose]: database[Symbol.asyncDispose],
  };
}

/** Texts of notes with the partition that each is in. */
async function places(sql: postgres.Sql): Promise<Record<string, string>> {
  const rows = await sql<{ text: string; place: string }[]>`
    select text, tableoid::regclass::text as place from note order by written_at`;
  return Object.fromEntries(rows.map(({ text, place }) => [text, place]));
}

Deno.test(
  "the current and the next days get a partition each, once",
  CHECKED_UNLESS_SHARED,
  async () => {
    await using notes = await openNotes();
    const created = ["note_2026_12_31", "note_2027_01_01", "note_2027_01_02"];
    assert.deepEqual(await createPartitions(notes.sql, [DAYS], { now: NOW }), created);
    assert.deepEqual(await notes.partitions(), [...created, "note_default"]);
    assert.deepEqual(await createPartitions(notes.sql, [DAYS], { now: NOW }), []);
    const [day] = await listPartitions(notes.sql, DAYS);
    const [from, to] = [new Date("2026-12-31T00:00:00Z"), new Date("2027-01-01T00:00:00Z")];
    assert.deepEqual(day, { name: "note_2026_12_31", from, to });
    await notes.write("2026-12-31T23:59:59.999Z", "last of the day");
    await notes.write("2027-01-01T00:00:00Z", "first of the year");
    assert.deepEqual(await places(notes.sql), {
      "last of the day": "note_2026_12_31",
      "first of the year": "note_2027_01_01",
    });
  },
);

Deno.test(
  "months are partitions by calendar month, also from the last day of a long one",
  CHECKED_UNLESS_SHARED,
  async () => {
    await using notes = await openNotes();
    const now = new Date("2026-01-31T12:00:00Z");
    const created = await createPartitions(notes.sql, [MONTHS], { now });
    assert.deepEqual(created, ["note_2026_01", "note_2026_02"]);
    await notes.write("2026-02-28T23:59:59Z", "February");
    assert.deepEqual(await places(notes.sql), { February: "note_2026_02" });
  },
);

Deno.test(
  "a row without a partition is written all the same, and moved when its partition is made",
  CHECKED_UNLESS_SHARED,
  async () => {
    await using notes = await openNotes();
    await notes.write("2026-12-31T10:00:00Z", "today");
    await notes.write("2027-05-01T10:00:00Z", "far ahead");
    assert.deepEqual(await places(notes.sql), {
      today: "note_default",
      "far ahead": "note_default",
    });
    await createPartitions(notes.sql, [DAYS], { now: NOW });
    assert.deepEqual(await places(notes.sql), {
      today: "note_2026_12_31",
      "far ahead": "note_default",
    });
    // The new partition has the indexes of its table.
    const indexes = await notes.sql`select from pg_indexes where tablename = 'note_2026_12_31'`;
    assert.equal(indexes.length, 2);
  },
);

Deno.test(
  "periods that are over their time are dropped, and so are late rows of such a time",
  CHECKED_UNLESS_SHARED,
  async () => {
    await using notes = await openNotes();
    for (const day of ["2026-12-28", "2026-12-29", "2026-12-30"]) {
      const now = new Date(`${day}T00:00:00Z`);
      await createPartitions(notes.sql, [{ ...DAYS, ahead: 0 }], { now });
      await notes.write(`${day}T12:00:00Z`, day);
    }
    await notes.write("2026-12-01T12:00:00Z", "late");
    const keepSince = new Date("2026-12-29T18:00:00Z");
    const dropped = await dropPartitions(notes.sql, [DAYS], { keepSince });
    assert.deepEqual(dropped, ["note_2026_12_28"]);
    // A day goes as a whole, when all of it is too old.
    assert.deepEqual(Object.keys(await places(notes.sql)), ["2026-12-29", "2026-12-30"]);
  },
);

Deno.test(
  "nodes that do it at once do it once, and none fails",
  CHECKED_UNLESS_SHARED,
  async () => {
    await using notes = await openNotes();
    await notes.write("2026-12-31T10:00:00Z", "today");
    const rounds = await Promise.all(
      Array.from(
        { length: 4 },
        () => createPartitions(notes.sql, [DAYS], { now: NOW }),
      ),
    );
    const created = rounds.flat().sort();
    assert.deepEqual(created, ["note_2026_12_31", "note_2027_01_01", "note_2027_01_02"]);
    assert.deepEqual(await places(notes.sql), { today: "note_2026_12_31" });
  },
);

Deno.test(
  "a table that is in use is left alone after a moment, and done in a later round",
  ON_SERVER,
  async () => {
    await using notes = await openNotes();
    const old = new Date("2026-12-01T12:00:00Z");
    await createPartitions(notes.sql, [{ ...DAYS, ahead: 0 }], { now: old });
    const round = () => dropPartitions(notes.sql, [DAYS], { keepSince: NOW });
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
    assert.deepEqual(await round(), ["note_2026_12_01"]);
  },
);

Deno.test(
  "a start goes on without the partitions of a table that is locked; a later round creates them",
  ON_SERVER,
  async () => {
    await using letters = await openLetters();
    const { sql } = letters;
    const notes = { ...DAYS, ahead: 0 };
    const over = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const locking = sql.begin(async (tx) => {
      await tx`lock table note in access exclusive mode`;
      held.resolve();
      await over.promise;
    });
    await held.promise;
    const start = await createPartitions(sql, [notes, BY_ID], { now: NOW, isStart: true });
    assert.deepEqual(start, ["letter_2026_12"]);
    await assert.rejects(createPartitions(sql, [notes], { now: NOW }), { code: "55P03" });
    over.resolve();
    await locking;
    assert.deepEqual(await createPartitions(sql, [notes], { now: NOW }), ["note_2026_12_31"]);
  },
);

const BY_ID: PartitionedTable = {
  table: "letter",
  column: "id",
  idPrefix: "evt",
  every: "month",
  ahead: 0,
  fillfactor: 80,
};

async function openLetters() {
  const notes = await openNotes();
  await notes.sql.unsafe(`
    drop table if exists letter cascade;
    create table letter (id text collate "C" primary key) partition by range (id);
    create table letter_default partition of letter default`);
  const write = async (...moments: string[]) => {
    for (const moment of moments) {
      await notes.sql`insert into letter values (${newId("evt", Date.parse(moment))})`;
    }
  };
  const counts = async () => {
    const rows = await notes.sql<{ place: string; n: number }[]>`
      select tableoid::regclass::text as place, count(*)::int as n from letter group by 1 order by 1`;
    return Object.fromEntries(rows.map(({ place, n }) => [place, n]));
  };
  return { ...notes, write, counts };
}

Deno.test("rows are in the month that their id begins with", CHECKED_UNLESS_SHARED, async () => {
  await using letters = await openLetters();
  const now = new Date("2026-02-10T00:00:00Z");
  await createPartitions(letters.sql, [{ ...BY_ID, ahead: 1 }], { now });
  await letters.write(
    "2026-02-01T00:00:00.000Z",
    "2026-02-28T23:59:59.999Z",
    "2026-03-01T00:00:00Z",
  );
  assert.deepEqual(await letters.counts(), { letter_2026_02: 2, letter_2026_03: 1 });
  const [row] = await letters.sql`select reloptions from pg_class where relname = 'letter_2026_02'`;
  assert.deepEqual(row!.reloptions, ["fillfactor=80"]);
});

Deno.test(
  "rows of a table in constant use leave the default partition at a start only, each to its month",
  CHECKED_UNLESS_SHARED,
  async () => {
    await using letters = await openLetters();
    await letters.write("2025-01-05T00:00:00Z", "2025-11-05T00:00:00Z", "2025-11-06T00:00:00Z");
    await letters.sql`insert into letter values ('evt_without_a_time')`;
    const now = new Date("2025-11-20T00:00:00Z");
    assert.deepEqual(await createPartitions(letters.sql, [BY_ID], { now }), []);
    assert.deepEqual(await letters.counts(), { letter_default: 4 });
    const created = await createPartitions(letters.sql, [BY_ID], { now, isStart: true });
    assert.deepEqual(created.sort(), ["letter_2025_01", "letter_2025_11"]);
    assert.deepEqual(await letters.counts(), {
      letter_2025_01: 1,
      letter_2025_11: 2,
      letter_default: 1,
    });
  },
);

Deno.test(
  "partitions of one month are dropped together, and stay together where one is needed",
  CHECKED_UNLESS_SHARED,
  async () => {
    await using letters = await openLetters();
    const { sql } = letters;
    const notes = { ...MONTHS, ahead: 0 };
    for (const month of ["2026-01-01", "2026-02-01"]) {
      await createPartitions(sql, [BY_ID, notes], { now: new Date(`${month}T00:00:00Z`) });
    }
    const asked: string[] = [];
    const dropped = await dropPartitions(sql, [BY_ID, notes], {
      keepSince: new Date("2026-03-01T00:00:00Z"),
      mayDrop(_tx, names) {
        asked.push(...names);
        return Promise.resolve(!names.includes("note_2026_02"));
      },
    });
    assert.deepEqual(asked, ["letter_2026_01", "note_2026_01", "letter_2026_02", "note_2026_02"]);
    assert.deepEqual(dropped, ["letter_2026_01", "note_2026_01"]);
  },
);
