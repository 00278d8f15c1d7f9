import assert from "node:assert/strict";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { createPerson } from "./people.ts";
import { kvSessions, postgresSessions } from "./session_stores.ts";
import { IDLE_MS, SESSION_MS, Sessions, type SessionStore } from "./sessions.ts";

const DAY_MS = 86_400_000;

/** What must hold wherever sessions are kept. */
async function checkStore(store: SessionStore, ann: string, bob: string): Promise<void> {
  let now = Date.UTC(2026, 0, 1);
  using sessions = new Sessions(store, { now: () => now });
  const begin = (person: string) => sessions.begin(person, "Mozilla/5.0");
  const [first, second, other] = [await begin(ann), await begin(ann), await begin(bob)];
  assert.equal((await sessions.find(first))!.person, ann);
  assert.equal(await sessions.find("no such session"), null);
  assert.deepEqual((await sessions.list(ann)).length, 2);

  // One that is used lives on; one that is not ends.
  now += IDLE_MS - DAY_MS;
  assert.ok(await sessions.find(first));
  now += 2 * DAY_MS;
  assert.ok(await sessions.find(first));
  assert.equal(await sessions.find(second), null);
  assert.equal((await sessions.list(ann)).length, 1);

  // Nothing lives longer than this, however often it is used.
  const began = Date.UTC(2026, 0, 1);
  while (now + IDLE_MS / 2 < began + SESSION_MS) {
    now += IDLE_MS / 2;
    assert.ok(await sessions.find(first), new Date(now).toISOString());
  }
  now = began + SESSION_MS;
  assert.equal(await sessions.find(first), null);

  const [third, fourth] = [await begin(ann), await begin(ann)];
  const { hash } = (await sessions.find(fourth))!;
  assert.equal(await sessions.endAll(ann, hash), 1);
  assert.equal(await sessions.find(third), null);
  assert.ok(await sessions.find(fourth));
  await sessions.sweep();
  assert.equal((await store.list(bob)).length, 0, "the sweep forgets what has ended");
  assert.equal(await sessions.find(other), null);
}

Deno.test({
  name: "sessions in Deno KV end when unused, when old, and when told to",
  sanitizeOps: true,
  sanitizeResources: true,
  async fn() {
    const kv = await Deno.openKv(":memory:");
    try {
      await checkStore(kvSessions(kv), "per_ann", "per_bob");
      const left: unknown[] = [];
      for await (const entry of kv.list({ prefix: [] })) left.push(entry.key);
      assert.equal(left.length, 2, "one session, under its hash and its person");
    } finally {
      kv.close();
    }
  },
});

Deno.test({
  name: "sessions in Postgres end when unused, when old, and when told to",
  sanitizeOps: true,
  sanitizeResources: true,
  async fn() {
    await using store = await freshDatabase();
    await using database = await store.open();
    const person = async (email: string) =>
      (await createPerson(database.sql, { email, name: "x", passwordHash: null }))!.id;
    await checkStore(
      postgresSessions(database.sql),
      await person("ann@example.com"),
      await person("bob@example.com"),
    );
  },
});
