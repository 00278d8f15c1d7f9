import assert from "node:assert/strict";
import { join } from "node:path";
import { createAccount } from "../../src/accounts/accounts.ts";
import { createKey } from "../../src/accounts/api_keys.ts";
import { credit } from "../../src/ledger/credit.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { type GatewayProcess, startProcess } from "../helpers/gateway_process.ts";

const DECLARATION = new URL("../helpers/chat_declaration.yaml", import.meta.url);
const ADMIN_TOKEN = "test-admin-token-0123456789";
const STORAGE = `
storage:
  queue: postgres
  sessions: postgres
  files: s3
  s3:
    endpoint: http://127.0.0.1:9
    bucket: nothing
    access_key_id: \${S3_KEY}
    secret_access_key: \${S3_SECRET}
`;

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
  const file = join(store.dataDir, "gateway.yaml");
  await Deno.writeTextFile(file, `${await Deno.readTextFile(DECLARATION)}${STORAGE}`);
  await using database = await store.open();
  const { id } = await createAccount(database.sql, { name: "deployed" });
  await credit(database.sql, { account: id, kind: "cash", amount: "10", reference: "a" });
  const { key } = await createKey(database.sql, id, "test");
  await using gateway = deploy({
    DATABASE_URL: store.databaseUrl!,
    ADMIN_TOKEN,
    GATEWAY_CONFIG: file,
    // A folder that is not there: nothing may want it.
    DATA_DIR: join(store.dataDir, "nowhere"),
    S3_KEY: "key",
    S3_SECRET: "secret",
  });
  await gateway.says(/"message":"started"|"started"/, 60);
  const ready = await fetch(`${gateway.address}/readyz`);
  assert.equal(ready.status, 200, await ready.text());
  const models = await (await fetch(`${gateway.address}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  })).json();
  const chat = models.data.find(({ type }: { type: string }) => type === "chat");
  const answer = await fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: chat.id, messages: [{ role: "user", content: "hello" }] }),
  });
  assert.equal(answer.status, 200, await answer.text());
  await assert.rejects(Deno.stat(join(store.dataDir, "nowhere")), Deno.errors.NotFound);
  assert.doesNotMatch(gateway.stderr(), /NotCapable|requires write access/);
});

Deno.test("what cannot work on Deno Deploy is refused, all at once", async () => {
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
