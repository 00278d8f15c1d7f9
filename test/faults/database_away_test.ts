import assert from "node:assert/strict";
import { DURABLE, startPostgres } from "../../scripts/postgres.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { openDatabase } from "../../src/platform/database/postgres.ts";
import { errorOf, openGateway } from "../helpers/open_gateway.ts";
import { noLog } from "../helpers/logs.ts";
import { statusOf } from "../helpers/status_of.ts";

Deno.test("503 while the database is away, and full service by itself when it is back", async () => {
  await using postgres = {
    // Killed: what was committed must be there afterwards.
    ...await startPostgres({ settings: DURABLE }),
    async [Symbol.asyncDispose]() {
      await this.stop();
    },
  };
  const dataDir = await Deno.makeTempDir();
  {
    await using database = await openDatabase({ databaseUrl: postgres.url, dataDir, log: noLog });
    await migrate(database.sql);
  }
  const store = {
    databaseUrl: postgres.url,
    dataDir,
    open: () => openDatabase({ databaseUrl: postgres.url, dataDir, log: noLog }),
    [Symbol.asyncDispose]: () => Deno.remove(dataDir, { recursive: true }),
  };
  await using _store = store;
  await using gateway = await openGateway({ store });
  assert.equal(await statusOf(gateway.get("/v1/models")), 200);

  await postgres.kill();
  const started = performance.now();
  const unknown = await gateway.get("/v1/models", { authorization: "Bearer sk-never-seen" });
  assert.equal(unknown.status, 503);
  assert.ok(Number(unknown.headers.get("retry-after")) >= 1);
  const error = await errorOf(unknown);
  assert.equal(error.code, "storage_unavailable");
  assert.equal(error.type, "api_error");
  assert.ok(performance.now() - started < 8_000, "fails soon, does not hang");
  const ready = await gateway.fetch("/readyz");
  assert.equal(ready.status, 503);
  assert.equal((await ready.json()).checks.database.ok, false);
  assert.equal(await statusOf(gateway.fetch("/healthz")), 200);

  await postgres.restart();
  for (let waited = 0;; waited += 100) {
    const res = await gateway.get("/v1/models");
    await res.body?.cancel();
    if (res.status === 200 && await statusOf(gateway.fetch("/readyz")) === 200) break;
    assert.ok(waited < 15_000, `still ${res.status}`);
    await new Promise((resume) => setTimeout(resume, 100));
  }
  const made = await gateway.newKey();
  assert.equal(
    await statusOf(gateway.get("/v1/models", { authorization: `Bearer ${made.key}` })),
    200,
  );
});
