import assert from "node:assert/strict";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import type { Queries } from "../../platform/database/database.ts";
import { createAccount } from "../accounts/accounts.ts";
import { openSecretBox } from "../../platform/secrets/secret_box.ts";
import { makeSecret, revealSecret, rotateSecret } from "./secrets.ts";

Deno.test("a secret is made once, and an old one signs for a day after a rotation, four at most", async () => {
  await using store = await freshDatabase();
  await using database = await store.open();
  const { sql } = database;
  const { id: account } = await createAccount(sql, { name: "a" });
  const owner = { account, endpoint: null };
  const box = openSecretBox(["an operator's key of 32 or more characters"]);

  const first = await revealSecret(sql, box, owner);
  await makeSecret(sql, box, owner);
  assert.deepEqual(await revealSecret(sql, box, owner), first);
  assert.equal(first.object, "webhook_secret");
  assert.match(first.secret, /^whsec_/);
  assert.deepEqual(first.previous, []);
  assert.ok(Number.isInteger(first.created));
  assert.ok(Math.abs(first.created - Date.now() / 1000) < 60);
  const [row] = await sql<[{ id: string; secret: string }]>`select id, secret from webhook_secret`;
  assert.match(row.id, /^whs_/);
  assert.ok(!row.secret.includes("whsec_"), "it is sealed");

  const second = await rotateSecret(sql, box, owner);
  assert.notEqual(second.secret, first.secret);
  assert.deepEqual(second.previous.map(({ secret }) => secret), [first.secret]);
  const ends = Date.parse(second.previous[0]!.expires_at) / 1000;
  assert.ok(Math.abs(ends - Date.now() / 1000 - 86_400) < 60);
  const [overlap] = await sql<[{ seconds: string }]>`
    select extract(epoch from max(expires_at) - max(created_at)) as seconds from webhook_secret`;
  assert.equal(Number(overlap.seconds), 86_400, "a day");

  const leaked = await rotateSecret(sql, box, owner, 0);
  assert.deepEqual(leaked.previous.map(({ secret }) => secret), [first.secret]);

  const all = [first.secret, leaked.secret];
  for (let n = 0; n < 4; n++) all.push((await rotateSecret(sql, box, owner)).secret);
  const last = await revealSecret(sql, box, owner);
  assert.equal(last.secret, all.at(-1));
  assert.deepEqual(last.previous.map(({ secret }) => secret), all.slice(1, -1).reverse());
});

Deno.test("a first secret is stored before it is read", async () => {
  const stored: { id: string; secret: string; created_at: Date; expires_at: null }[] = [];
  const sql = async (strings: unknown, row: { id: string; secret: string }) => {
    if (!String(strings).includes("insert")) return [...stored];
    await new Promise((resolve) => setTimeout(resolve, 5));
    stored.push({ ...row, created_at: new Date(), expires_at: null });
  };
  // `sql(row)` gives the columns of an insert.
  const queries = (first: unknown, ...rest: [never]) =>
    Array.isArray(first) ? sql(first, ...rest) : first;
  const owner = { account: "acc_1", endpoint: null };
  const { secret } = await revealSecret(
    queries as unknown as Queries,
    openSecretBox([]),
    owner,
  );
  assert.equal(secret, stored[0]!.secret);
});
