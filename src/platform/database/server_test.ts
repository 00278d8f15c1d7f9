import assert from "node:assert/strict";
import { startPostgres } from "../../../scripts/postgres.ts";
import { isStorageDown, openDatabase, StorageError } from "./postgres.ts";
import { versionFault } from "./server.ts";
import { sleep } from "../../lib/timers.ts";
import { noLog, recordLog } from "../../../test/helpers/logs.ts";

const ON_SERVER = {
  sanitizeOps: true,
  sanitizeResources: true,
  ignore: Deno.env.get("TEST_STORE") === "embedded",
};
const PASSWORD = "p@ss/w0rd#%";

/** Opens it, and answers what it says when it cannot. Fails should the password show anywhere. */
async function refusal(databaseUrl: string, waitSeconds = 0) {
  const said: { message: string; fields: Record<string, unknown> | undefined }[] = [];
  const log = recordLog((_, message, fields) => said.push({ message, fields }));
  const error = await openDatabase({ databaseUrl, dataDir: "unused", log, waitSeconds }).then(
    async (database) => {
      await database[Symbol.asyncDispose]();
      assert.fail("it opened");
    },
    (error) => error,
  );
  assert.ok(error instanceof StorageError, String(error));
  const everything = Deno.inspect([error, error.cause, said], {
    depth: 10,
    strAbbreviateSize: 1e6,
  });
  for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), "w0rd"]) {
    assert.ok(!everything.includes(secret), everything);
  }
  return { message: error.message, said, cause: error.cause };
}

Deno.test(
  "a server that is not there is waited for, with progress, and then named",
  ON_SERVER,
  async () => {
    const port = (() => {
      using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      return listener.addr.port;
    })();
    const url = `postgres://ann:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/shop`;
    const { message, said, cause } = await refusal(url, 3);
    assert.match(
      message,
      new RegExp(
        `^Cannot reach the database 127\\.0\\.0\\.1:${port}/shop after \\d+ s: nothing listens ` +
          "there. Check that DATABASE_URL is right and that the server is running\\.$",
      ),
    );
    assert.ok(isStorageDown(cause));
    assert.ok(said.length >= 2, "a line about every two seconds");
    for (const { message, fields } of said) {
      assert.equal(message, "waiting for the database");
      assert.equal(fields!.reason, "nothing listens there");
      assert.equal(typeof fields!.waited_seconds, "number");
    }
    assert.equal(said[0]!.fields!.database, `127.0.0.1:${port}/shop`);
  },
);

Deno.test("a server that starts late is used as soon as it answers", ON_SERVER, async () => {
  await using server = await startPostgres();
  await server.kill();
  const opening = openDatabase({ databaseUrl: server.url, dataDir: "unused", log: noLog });
  await sleep(300);
  await server.restart();
  await using database = await opening;
  assert.equal(database.kind, "server");
  assert.equal(database.describe, `127.0.0.1:${server.port}/postgres`);
  const [row] = await database.sql`
    select application_name from pg_stat_activity where pid = pg_backend_pid()`;
  assert.equal(row!.application_name, "tollgate");
});

Deno.test(
  "a wrong password, a missing database and missing TLS are refused without waiting",
  ON_SERVER,
  async () => {
    await using server = await startPostgres({ password: PASSWORD });
    const started = performance.now();
    const at = `127.0.0.1:${server.port}`;
    {
      await using database = await openDatabase({
        databaseUrl: server.url,
        dataDir: "x",
        log: noLog,
      });
      assert.ok(!database.describe.includes("w0rd"));
    }
    const url = new URL(server.url);
    const wrong = `postgres://postgres:${encodeURIComponent(PASSWORD + "!")}@${at}/postgres`;
    assert.match((await refusal(wrong, 60)).message, /does not accept the user and password/);
    url.pathname = "/nowhere";
    assert.match(
      (await refusal(url.href, 60)).message,
      /^Cannot use the database .*\/nowhere: database "nowhere" does not exist; create it/,
    );
    url.pathname = "/postgres";
    url.search = "?sslmode=require";
    assert.match((await refusal(url.href, 60)).message, /the server does not offer TLS/);
    url.search = "?sslmode=prefer&channel_binding=require";
    await using _ = await openDatabase({ databaseUrl: url.href, dataDir: "unused", log: noLog });
    assert.ok(performance.now() - started < 10_000);
  },
);

Deno.test(
  "a malformed URL is explained, and the message never contains it",
  ON_SERVER,
  async () => {
    const messages = [];
    for (
      const url of [
        `postgres://ann:${PASSWORD}@host/shop`,
        `postgres://ann:12/${PASSWORD}@host/shop`,
        `postgres://ann:12#${PASSWORD}@host/shop`,
        `postgres://ann:w0rd%@host/shop`,
        `mysql://ann:w0rd@host/shop`,
        `w0rd`,
        `postgres://ann:w0rd@a,b/shop`,
        `postgres://ann:w0rd@host/shop?sslmode=maybe`,
        `postgres://ann:w0rd@host/shop?sslmode=verify-full&sslrootcert=/no/such/file`,
      ]
    ) messages.push((await refusal(url)).message);
    for (const message of messages) assert.match(message, /DATABASE_URL/);
  },
);

Deno.test(
  "a server is reached through its unix socket, and its end is detected",
  ON_SERVER,
  async () => {
    await using server = await startPostgres();
    const { folder, port } = server;
    const databaseUrl = `postgres://postgres@${encodeURIComponent(folder)}:${port}/postgres`;
    await using database = await openDatabase({ databaseUrl, dataDir: "unused", log: noLog });
    assert.match(database.describe, /\/\.s\.PGSQL\.\d+\/postgres$/);
    await database.sql.begin((tx) => tx`select 1`);
    await server.kill();
    await assert.rejects(async () => await database.sql`select 1`, (error) => isStorageDown(error));
  },
);

Deno.test("a server that is too old is refused with a message", () => {
  assert.equal(versionFault(150_000), null);
  assert.equal(versionFault(180_004), null);
  assert.equal(
    versionFault(140_012),
    "it is Postgres 14, and Postgres 15 or newer is needed. Upgrade the server.",
  );
});
