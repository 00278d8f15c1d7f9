/** Writes docs/contribute/schema.md from the catalog of a fresh embedded database. */
import { migrate } from "../src/platform/database/migrate.ts";
import { openDatabase } from "../src/platform/database/postgres.ts";
import { writeSchemaPage } from "./schema_page.ts";

const TARGET = new URL("../docs/contribute/schema.md", import.meta.url);

const dataDir = await Deno.makeTempDir({ prefix: "tollgate-schema-" });
try {
  await using database = await openDatabase({ dataDir, log: { info() {} } });
  await migrate(database.sql);
  await Deno.writeTextFile(TARGET, await writeSchemaPage(database.sql));
} finally {
  await Deno.remove(dataDir, { recursive: true });
}
