import assert from "node:assert/strict";
import postgres from "postgres";
import { startPostgres } from "../../scripts/postgres.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { openDatabase } from "../../src/platform/database/postgres.ts";
import { openChatGateway } from "../helpers/chat_gateway.ts";
import { errorOf, openGateway } from "../helpers/open_gateway.ts";
import { smallDisk } from "../helpers/small_disk.ts";
import { noLog } from "../helpers/logs.ts";
import { statusOf } from "../helpers/status_of.ts";

const ON_SERVER = { ignore: Deno.env.get("TEST_STORE") === "embedded" };

/** A connection beside the gateway's own. */
function connectBeside(url: string) {
  const sql = postgres(url, { max: 1, onnotice() {} });
  return Object.assign(sql, { [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }) });
}

async function unavailable(response: Response): Promise<void> {
  assert.equal(response.status, 503);
  assert.ok(Number(response.headers.get("retry-after")) >= 1);
  const { code, type } = await errorOf(response);
  assert.deepEqual({ code, type }, { code: "storage_unavailable", type: "api_error" });
}

Deno.test(
  "a database that became read-only: 503, not ready and why, and all well afterwards",
  ON_SERVER,
  async () => {
    await using gateway = await openChatGateway();
    const { databaseUrl } = gateway.store;
    await using beside = connectBeside(databaseUrl!);
    const ready = await gateway.fetch("/readyz");
    assert.equal(ready.status, 200);
    await ready.body?.cancel();

    const name = new URL(databaseUrl!).pathname.slice(1);
    await beside`set default_transaction_read_only = off`;
    await beside`alter database ${beside(name)} set default_transaction_read_only = on`;
    await hangUpOthers(beside);
    await unavailable(await gateway.chat("talk", "hello"));
    await until("not ready", async () => {
      const res = await gateway.fetch("/readyz");
      const { checks } = await res.json();
      return res.status === 503 && checks.database.reason === "the database is read-only";
    });
    assert.match(gateway.logged(), /"database not ready"/);
    // On connections that were made since, where writing is what is refused.
    await unavailable(await gateway.chat("talk", "hello"));

    await beside`alter database ${beside(name)} reset default_transaction_read_only`;
    await hangUpOthers(beside);
    await until("ready again", async () => {
      const res = await gateway.fetch("/readyz");
      await res.body?.cancel();
      return res.status === 200;
    });
    const res = await gateway.chat("talk", "hello");
    assert.equal(res.status, 200);
    await res.body?.cancel();
    await gateway.verify();
  },
);

Deno.test(
  "a row that stays locked: 503 for its account, and the node stays ready",
  ON_SERVER,
  async () => {
    await using gateway = await openChatGateway();
    await using beside = connectBeside(gateway.store.databaseUrl!);
    const locked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const locking = beside.begin(async (tx) => {
      await tx`select from wallet where account_id = ${gateway.account} for update`;
      locked.resolve();
      await answered.promise;
    });
    await Promise.race([locked.promise, locking]);
    try {
      await unavailable(await gateway.chat("talk", "hello"));
      const ready = await gateway.fetch("/readyz");
      assert.equal(ready.status, 200, await ready.text());
    } finally {
      answered.resolve();
      await locking;
    }
    const res = await gateway.chat("talk", "hello");
    assert.equal(res.status, 200);
    await res.body?.cancel();
    await gateway.verify();
  },
);

Deno.test(
  "a database without room on its disk: 503, not ready and why, and all well afterwards",
  ON_SERVER,
  async () => {
    await using disk = await smallDisk(160);
    if (disk === null) return;
    await using server = await startPostgres({ dir: disk.path });
    const dataDir = await Deno.makeTempDir({ prefix: "tollgate-test-" });
    const open = () => openDatabase({ databaseUrl: server.url, dataDir, log: noLog });
    {
      await using database = await open();
      await migrate(database.sql);
    }
    await using store = {
      databaseUrl: server.url,
      dataDir,
      open,
      [Symbol.asyncDispose]: () => Deno.remove(dataDir, { recursive: true }),
    };
    await using gateway = await openGateway({ store });
    const create = (n: number) => gateway.admin("POST", "/accounts", { name: "x".repeat(60) + n });
    await disk.fill();
    let refused: Response | null = null;
    for (let n = 0; n < 2_000 && refused === null; n++) {
      const res = await create(n);
      if (res.status === 201) await res.body?.cancel();
      else refused = res;
    }
    assert.ok(refused !== null, "the disk never ran full");
    await unavailable(refused);
    const ready = await gateway.fetch("/readyz");
    assert.equal(ready.status, 503);
    assert.equal((await ready.json()).checks.database.ok, false);

    await disk.free();
    await until("ready again", async () => {
      const res = await gateway.fetch("/readyz");
      await res.body?.cancel();
      return res.status === 200;
    });
    assert.equal(await statusOf(create(0)), 201);
  },
);

async function hangUpOthers(sql: postgres.Sql): Promise<void> {
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`;
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 20_000;
  while (!await holds()) {
    assert.ok(performance.now() < giveUpAt, `never ${what}`);
    await new Promise((resume) => setTimeout(resume, 100));
  }
}
