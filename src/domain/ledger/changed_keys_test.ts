import assert from "node:assert/strict";
import { ChangedKeys } from "./changed_keys.ts";

Deno.test("a changed key is remembered for a minute after its last change", () => {
  let now = 1_000;
  const keys = new ChangedKeys(() => now);
  assert.equal(keys.has("key_1"), false);
  keys.add("key_1");
  now += 40_000;
  keys.add("key_2");
  assert.deepEqual([keys.has("key_1"), keys.has("key_2")], [true, true]);
  now += 20_000;
  assert.deepEqual([keys.has("key_1"), keys.has("key_2")], [false, true]);
  keys.add("key_2");
  now += 40_000;
  assert.deepEqual([keys.has("key_1"), keys.has("key_2")], [false, true]);
});
