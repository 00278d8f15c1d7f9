import assert from "node:assert/strict";
import { NotedBody } from "./noted_body.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

Deno.test("a body is kept from its beginning up to the limit, and measured whole", () => {
  const body = new NotedBody(8);
  for (const piece of ["abc", "def", "ghijk", "l"]) body.add(bytesOf(piece));
  assert.equal(new TextDecoder().decode(body.bytes), "abcdefgh");
  assert.equal(body.size, 12);
  assert.equal(body.capacity, 8);
});

Deno.test("memory grows by doubling, never beyond the limit, and is a copy", () => {
  const body = new NotedBody(10_000);
  const piece = new Uint8Array(300);
  const capacities = new Set<number>();
  for (let n = 0; n < 50; n++) {
    const expected = body.capacityFor(piece);
    body.add(piece);
    assert.equal(body.capacity, expected);
    capacities.add(body.capacity);
  }
  assert.deepEqual([...capacities], [1024, 2048, 4096, 8192, 10_000]);
  const large = new Uint8Array(1_000_000);
  const small = new NotedBody(100);
  small.add(large);
  assert.equal(small.bytes.buffer.byteLength, 100, "the large one is not kept");
});
