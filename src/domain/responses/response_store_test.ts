import assert from "node:assert/strict";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { newId } from "../../lib/ids.ts";
import { RESPONSE_TABLE } from "../../platform/database/partitioned_tables.ts";
import { createPartitions, dropPartitions } from "../../platform/database/partitions.ts";
import type { SecretBox } from "../../platform/secrets/types.ts";
import { ResponseStore } from "./response_store.ts";

/** Shows in the row that it was applied, and to which row. */
const MARKING: SecretBox = {
  hasKey: true,
  isCurrent: () => true,
  seal: (text, row) => `${row}|${btoa(text)}`,
  unseal(stored, row) {
    const [owner, text] = stored.split("|");
    assert.equal(owner, row);
    return atob(text!);
  },
};
const DAY_MS = 86_400_000;

/** Ids of requests with another prefix. */
const responseId = (now = Date.now()) => newId("req", now).replace("req", "resp");

Deno.test("responses are sealed, found by their account only, and continued in order", async () => {
  await using database = await freshDatabase();
  await using opened = await database.open();
  const { sql } = opened;
  const store = new ResponseStore(sql, MARKING);
  const [first, second, third] = [responseId(), responseId(), responseId()];
  await Promise.all([
    store.save({ id: first, account: "acc_1", previous: null, body: "one" }),
    store.save({ id: second, account: "acc_1", previous: first, body: "two" }),
    store.save({ id: third, account: "acc_1", previous: second, body: "three" }),
  ]);
  const rows = await sql<{ body: string }[]>`select body from response`;
  assert.ok(rows.every(({ body }) => body.startsWith("resp_")), "what is stored is sealed");
  assert.deepEqual(await store.find("acc_1", second), {
    id: second,
    previous: first,
    body: "two",
    task: null,
  });
  const bodies = async (account: string, id: string) =>
    (await store.conversation(account, id)).map(({ body }) => body);
  assert.deepEqual(await bodies("acc_1", third), ["one", "two", "three"]);
  for (
    const [account, id] of [["acc_2", third], ["acc_1", "resp_1"], ["acc_1", "' or true"]] as const
  ) {
    assert.equal(await store.find(account, id), null);
    assert.deepEqual(await bodies(account, id), []);
    assert.equal(await store.delete(account, id), false);
  }
  assert.equal(await store.delete("acc_1", first), true);
  const left = await store.conversation("acc_1", third);
  assert.deepEqual(left.map(({ previous }) => previous), [first, second], "its beginning is gone");
});

Deno.test("a response of another account does not become part of a conversation", async () => {
  await using database = await freshDatabase();
  await using opened = await database.open();
  const store = new ResponseStore(opened.sql, MARKING);
  const [theirs, ours] = [responseId(), responseId()];
  await store.save({ id: theirs, account: "acc_2", previous: null, body: "secret" });
  await store.save({ id: ours, account: "acc_1", previous: theirs, body: "mine" });
  assert.deepEqual((await store.conversation("acc_1", ours)).map(({ body }) => body), ["mine"]);
});

Deno.test("responses are dropped with their day", async () => {
  await using database = await freshDatabase();
  await using opened = await database.open();
  const { sql } = opened;
  const store = new ResponseStore(sql, MARKING);
  const now = new Date();
  const [old, recent] = [responseId(now.getTime() - 40 * DAY_MS), responseId()];
  await store.save({ id: old, account: "acc_1", previous: null, body: "old" });
  await store.save({ id: recent, account: "acc_1", previous: null, body: "recent" });
  await createPartitions(sql, [RESPONSE_TABLE], { now, isStart: true });
  const keepSince = new Date(now.getTime() - 30 * DAY_MS);
  const dropped = await dropPartitions(sql, [RESPONSE_TABLE], { keepSince });
  assert.equal(dropped.length, 1);
  assert.equal(await store.find("acc_1", old), null);
  assert.equal((await store.find("acc_1", recent))?.body, "recent");
});
