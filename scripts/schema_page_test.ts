import assert from "node:assert/strict";
import { freshDatabase } from "../test/helpers/fresh_database.ts";
import { writeSchemaPage } from "./schema_page.ts";

const PAGE = new URL("../docs/contribute/schema.md", import.meta.url);

Deno.test("docs/contribute/schema.md describes the schema of this build", async () => {
  await using fresh = await freshDatabase();
  await using database = await fresh.open();
  const page = await writeSchemaPage(database.sql);
  assert.equal(await Deno.readTextFile(PAGE), page, "stale: run `deno task generate`");
});
