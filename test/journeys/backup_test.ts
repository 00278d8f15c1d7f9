import assert from "node:assert/strict";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { ADMIN_TOKEN, errorOf, openGateway } from "../helpers/open_gateway.ts";
import { runCliHere } from "../helpers/run_cli.ts";

const cli = async (environment: Record<string, string>, ...args: string[]) => {
  const { code, text: out } = await runCliHere(args, environment);
  return { code, out };
};

Deno.test("a backup under load is one moment of the embedded database, and restore puts it back", async () => {
  await using store = await freshDatabase({ isEmbedded: true });
  const env = { ADMIN_TOKEN, DATA_DIR: store.dataDir };
  let folder: string;
  let inBackup: number;
  {
    await using gateway = await openGateway({ store });
    const { sql } = gateway.gateway.database;
    let isOver = false;
    let written = 0;
    // Each transaction writes two rows: a copy must have both or none.
    const writing = (async () => {
      while (!isOver) {
        await sql.begin(async (tx) => {
          for (const half of ["a", "b"]) {
            await tx`insert into change (topic, subject) values ('account', ${`${written}${half}`})`;
          }
        });
        written++;
      }
    })();
    while (written < 20) await new Promise((resume) => setTimeout(resume, 5));
    const before = written;
    const made = await cli({ ...env, GATEWAY_URL: gateway.address }, "backup", "--json");
    assert.equal(made.code, 0, made.out);
    folder = JSON.parse(made.out).folder;
    inBackup = before;
    isOver = true;
    await writing;
    const running = await cli(env, "restore", folder);
    assert.equal(running.code, 1, "not while the gateway runs");
    assert.match(running.out, /is in use/);
    await sql`delete from change`;
  }
  const restored = await cli(env, "restore", folder);
  assert.equal(restored.code, 0, restored.out);
  assert.match(restored.out, /The database that was there is now .*postgres\.replaced-/);
  await using database = await store.open();
  const rows = await database.sql<{ subject: string }[]>`
    select subject from change where subject ~ '^[0-9]+[ab]$'`;
  assert.equal(rows.length % 2, 0);
  assert.ok(rows.length >= 2 * inBackup, `${rows.length} rows of ${inBackup} transactions`);

  const nothing = await cli(env, "restore", `${store.dataDir}/nothing`);
  assert.equal(nothing.code, 1);
  assert.match(nothing.out, /There is no backup/);
});

Deno.test({
  name: "400 for a backup of a database on a server",
  ignore: Deno.env.get("TEST_DATABASE_URL") === undefined,
  async fn() {
    await using store = await freshDatabase({ isEmbedded: false });
    await using gateway = await openGateway({ store });
    const response = await gateway.admin("POST", "/backups");
    assert.equal(response.status, 400);
    assert.match((await errorOf(response)).message, /pg_dump/);
  },
});
