import assert from "node:assert/strict";
import fc from "fast-check";
import { GrowingBuffer } from "./growing_buffer.ts";

const FIRST = 64 * 1024;
const sizeOf = (buffer: GrowingBuffer) => buffer.bytes().buffer.byteLength;

Deno.test("the pieces come out as they went in, in memory no larger than announced", () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 200 })),
      fc.integer({ min: 1, max: 2 ** 16 }),
      (pieces, repeats) => {
        const all = pieces.flatMap((piece) => Array(1 + repeats % 40).fill(piece) as Uint8Array[]);
        const length = all.reduce((sum, piece) => sum + piece.length, 0);
        const buffer = new GrowingBuffer(length);
        for (const piece of all) buffer.add(piece);
        assert.equal(buffer.length, length);
        assert.deepEqual(buffer.bytes(), new Uint8Array(all.flatMap((piece) => [...piece])));
        assert.equal(sizeOf(buffer), length);
      },
    ),
    { numRuns: 50 },
  );
});

Deno.test("the memory doubles as bytes arrive, up to the largest body", () => {
  const buffer = new GrowingBuffer(FIRST * 5);
  assert.equal(sizeOf(buffer), FIRST);
  buffer.add(new Uint8Array(FIRST));
  assert.equal(sizeOf(buffer), FIRST, "it fits exactly");
  const before = buffer.bytes();
  buffer.add(new Uint8Array(1));
  assert.equal(sizeOf(buffer), FIRST * 2);
  assert.equal(before.length, 0, "the old memory is free at once");
  buffer.add(new Uint8Array(FIRST * 2));
  assert.equal(sizeOf(buffer), FIRST * 4);
  buffer.add(new Uint8Array(FIRST));
  assert.equal(sizeOf(buffer), FIRST * 5);
  assert.equal(sizeOf(new GrowingBuffer(10)), 10);
});
