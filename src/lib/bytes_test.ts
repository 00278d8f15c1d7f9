import assert from "node:assert/strict";
import { concatBytes } from "./bytes.ts";

Deno.test("bytes are joined in order, views as well as empty parts", () => {
  const view = new Uint8Array([9, 1, 2, 9]).subarray(1, 3);
  assert.deepEqual(concatBytes([view, new Uint8Array(), Uint8Array.of(3)]), Uint8Array.of(1, 2, 3));
  assert.deepEqual(concatBytes([]), new Uint8Array());
});
