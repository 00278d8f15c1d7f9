import assert from "node:assert/strict";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { resealSecrets } from "./reseal.ts";
import { checkSeal } from "./seal_check.ts";
import { openSecretBox } from "./secret_box.ts";
import type { SecretBox } from "./types.ts";

const [FIRST, SECOND, OTHER] = ["a", "b", "c"].map((letter) => letter.repeat(32)) as [
  string,
  string,
  string,
];

async function openStore() {
  const fresh = await freshDatabase();
  const database = await fresh.open();
  const { sql } = database;
  await sql`insert into account (id, name) values ('acc_1', 'a')`;
  return {
    sql,
    async store(secretBox: SecretBox, id: string) {
      await sql`
        insert into webhook_endpoint (id, account_id, url, host, description)
        values (${`we_${id}`}, 'acc_1', 'https://a.example', 'a.example', '')`;
      await sql`
        insert into webhook_secret (id, account_id, endpoint_id, secret)
        values (${id}, 'acc_1', ${`we_${id}`}, ${secretBox.seal(`secret of ${id}`, id)})`;
    },
    async read(secretBox: SecretBox) {
      const rows = await sql<{ id: string; secret: string }[]>`
        select id, secret from webhook_secret order by id`;
      return rows.map(({ id, secret }) => secretBox.unseal(secret, id));
    },
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await fresh[Symbol.asyncDispose]();
    },
  };
}

Deno.test("a database that was sealed knows its keys again, and no others", async () => {
  await using store = await openStore();
  const check = (...keys: string[]) => checkSeal(store.sql, openSecretBox(keys));
  assert.equal(await check(), "current", "nothing is sealed yet");
  assert.equal(await check(FIRST), "current");
  assert.equal(await check(FIRST), "current");
  assert.equal(await check(SECOND, FIRST), "earlier");
  assert.equal(await check(SECOND), "wrong");
  assert.equal(await check(), "wrong", "a key is missing");
});

Deno.test("secrets that an earlier version sealed decide while there is no sealed text", async () => {
  await using store = await openStore();
  await store.store(openSecretBox([FIRST]), "whs_1");
  assert.equal(await checkSeal(store.sql, openSecretBox([])), "wrong");
  assert.equal(await checkSeal(store.sql, openSecretBox([SECOND])), "wrong");
  assert.equal(await checkSeal(store.sql, openSecretBox([FIRST])), "current");
});

Deno.test("a rotation seals everything with the first key, plain text too, and then the other key is not needed", async () => {
  await using store = await openStore();
  await store.store(openSecretBox([]), "whs_1");
  await store.store(openSecretBox([FIRST]), "whs_2");
  const both = openSecretBox([SECOND, FIRST]);
  await store.store(both, "whs_3");
  await checkSeal(store.sql, openSecretBox([FIRST]));

  assert.deepEqual(await resealSecrets(store.sql, both), { resealed: 2, unreadable: 0 });
  assert.deepEqual(await resealSecrets(store.sql, both), { resealed: 0, unreadable: 0 });
  const second = openSecretBox([SECOND]);
  assert.deepEqual(await store.read(second), [1, 2, 3].map((n) => `secret of whs_${n}`));
  assert.equal(await checkSeal(store.sql, second), "current");
  assert.equal(await checkSeal(store.sql, openSecretBox([FIRST])), "wrong");
});

Deno.test("a rotation that cannot open a secret counts it, keeps it, and the earlier key stays needed", async () => {
  await using store = await openStore();
  const first = openSecretBox([FIRST]);
  await checkSeal(store.sql, first);
  await store.store(first, "whs_1");
  await store.store(openSecretBox([OTHER]), "whs_2");
  const both = openSecretBox([SECOND, FIRST]);
  assert.deepEqual(await resealSecrets(store.sql, both), { resealed: 1, unreadable: 1 });
  assert.deepEqual(
    await store.read(openSecretBox([SECOND, OTHER])),
    ["secret of whs_1", "secret of whs_2"],
  );
  assert.equal(await checkSeal(store.sql, both), "earlier");
});
