import assert from "node:assert/strict";
import { filesIn } from "../../../test/helpers/file_gateway.ts";
import { LocalStore } from "./local_store.ts";

const test = (name: string, fn: (folder: string) => Promise<void>) =>
  Deno.test({
    name,
    sanitizeOps: true,
    sanitizeResources: true,
    async fn() {
      const folder = await Deno.makeTempDir({ prefix: "tollgate-store-" });
      try {
        await fn(folder);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  });

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(new TextEncoder().encode(text));
}

const KEY = "file_key01";

test("what is put is there whole, in part, and gone when deleted", async (folder) => {
  const store = new LocalStore(folder);
  await store.put(KEY, pieces("ab", "", "cdef"));
  assert.deepEqual(await filesIn(folder), [`${folder}/01/${KEY}`]);
  const text = async (range?: { first: number; last: number }) =>
    await new Response(await store.get(KEY, range)).text();
  assert.equal(await text(), "abcdef");
  assert.equal(await text({ first: 1, last: 3 }), "bcd");
  assert.equal(await text({ first: 3, last: 5 }), "def");
  await store.delete(KEY);
  await store.delete(KEY);
  assert.deepEqual(await filesIn(folder), []);
  await assert.rejects(store.get(KEY), { code: "storage_unavailable" });
});

test("a source that fails leaves nothing, and its error comes out as it is", async (folder) => {
  const failing = async function* () {
    yield* pieces("ab");
    throw new RangeError("mine");
  };
  await assert.rejects(new LocalStore(folder).put(KEY, failing()), { name: "RangeError" });
  assert.deepEqual(await filesIn(folder), []);
});

test("a full disk is storage_unavailable and leaves nothing", async (folder) => {
  await Deno.mkdir(`${folder}/01`);
  // The device that is always full stands where the file is written first.
  await Deno.symlink("/dev/full", `${folder}/01/${KEY}.part`);
  await assert.rejects(new LocalStore(folder).put(KEY, pieces("ab")), (error: Error) => {
    assert.equal((error as Error & { code: string }).code, "storage_unavailable");
    assert.match(String(error.cause), /No space left/);
    return true;
  });
  assert.deepEqual(await filesIn(folder), []);
});
