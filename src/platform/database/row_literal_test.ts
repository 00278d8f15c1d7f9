import assert from "node:assert/strict";
import fc from "fast-check";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { jsonValue, rowsLiteral } from "./row_literal.ts";

interface Row {
  name: string | null;
  size: string | null;
  is_open: boolean | null;
  detail: unknown;
}

Deno.test("rows arrive as they are, whatever they contain", async () => {
  await using store = await freshDatabase();
  await using database = await store.open();
  const { sql } = database;
  await sql.unsafe("create type parcel as (name text, size numeric, is_open boolean, detail json)");
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom(..."\"\\',(){} \n\t") }),
    fc.constantFrom("", "null", "NULL", "{}", "()", '"', "\\", "a,b", " a "),
  ).map((value) => value.replaceAll("\0", ""));
  const row = fc.record<Row>({
    name: fc.option(text),
    size: fc.option(fc.bigInt().map(String)),
    is_open: fc.option(fc.boolean()),
    detail: fc.option(fc.array(text)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 8 }), async (rows) => {
      const literal = rowsLiteral(
        rows.map(({ name, size, is_open, detail }) => [name, size, is_open, jsonValue(detail)]),
      );
      const read = await sql<Row[]>`select * from unnest(${literal}::text::parcel[])`;
      assert.deepEqual(read.map((one) => ({ ...one })), rows.map((one) => ({ ...one })));
    }),
    { numRuns: 300 },
  );
});

Deno.test("a character that Postgres cannot store is replaced, and the row arrives", async () => {
  await using store = await freshDatabase();
  await using database = await store.open();
  const { sql } = database;
  await sql.unsafe("create type parcel as (name text, size int)");
  const read = await sql`select * from unnest(${rowsLiteral([["a\0b", 1]])}::text::parcel[])`;
  assert.deepEqual({ ...read[0] }, { name: "a\ufffdb", size: 1 });
});
