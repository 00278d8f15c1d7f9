import assert from "node:assert/strict";
import { join } from "node:path";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { createKey } from "../../src/domain/accounts/api_keys.ts";
import { addCredit } from "../../src/domain/ledger/credit.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { type GatewayProcess, startProcess } from "../helpers/gateway_process.ts";
import { nodeConfig, sharedStorage } from "../helpers/node_config.ts";
import { startS3 } from "../helpers/s3_server.ts";

const ADMIN_TOKEN = "test-admin-token-0123456789";

/** The entry point with what Deno Deploy gives: the network, the environment, the deployed files to read. */
const deploy = (env: Record<string, string>): GatewayProcess =>
  startProcess(
    { DENO_DEPLOY: "1", HOST: "127.0.0.1", ...env },
    [
      "run",
      "--no-prompt",
      "--no-check",
      "--allow-net",
      "--allow-env",
      "--allow-read",
      "--deny-write",
      "--deny-run",
      "--deny-ffi",
      "--allow-sys",
      "src/deploy.ts",
    ],
  );

Deno.test("the entry point for Deno Deploy serves without a disk, from Postgres alone", async () => {
  await using store = await freshDatabase();
  await using s3 = await startS3();
  const file = join(store.dataDir, "gateway.yaml");
  await Deno.writeTextFile(file, nodeConfig(sharedStorage(s3.storage)));
  await using database = await store.open();
  const { id } = await createAccount(database.sql, { name: "deployed" });
  await addCredit(database.sql, { account: id, kind: "cash", amount: "10", reference: "a" });
  const { key } = await createKey(database.sql, id, "test");
  await using gateway = deploy({
    DATABASE_URL: store.databaseUrl!,
    ADMIN_TOKEN,
    GATEWAY_CONFIG: file,
    // A folder that does not exist: nothing may use it.
    DATA_DIR: join(store.dataDir, "nowhere"),
    ...s3.environment,
  });
  await gateway.says(/"message":"started"|"started"/, 60);
  const ready = await fetch(`${gateway.address}/readyz`);
  assert.equal(ready.status, 200, await ready.text());
  const call = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(gateway.address + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const answer = await call("/v1/chat/completions", {
    model: "talk",
    messages: [{ role: "user", content: "hello" }],
  });
  assert.equal(answer.status, 200, await answer.text());
  const made = await call("/v1/images/generations", { model: "image-model", prompt: "a gate" }, {
    prefer: "wait=60",
  });
  const task = await made.json();
  assert.equal(task.status, "succeeded", JSON.stringify(task));
  const image = await fetch(task.output[0].url);
  assert.equal(image.headers.get("content-type"), "image/png");
  assert.ok((await image.bytes()).length > 100);
  await assert.rejects(Deno.stat(join(store.dataDir, "nowhere")), Deno.errors.NotFound);
  assert.doesNotMatch(gateway.stderr(), /NotCapable|requires write access/);
});

Deno.test("settings that cannot work on Deno Deploy are refused, all in one message", async () => {
  await using gateway = deploy({});
  assert.equal((await gateway.ended).code, 1);
  for (
    const pattern of [
      /DATABASE_URL/,
      /storage\.queue: postgres/,
      /storage\.files: s3/,
      /ADMIN_TOKEN/,
    ]
  ) {
    await gateway.says(pattern);
  }
  assert.doesNotMatch(gateway.stderr(), /\.ts:\d+/, "a sentence, not a stack");
});
