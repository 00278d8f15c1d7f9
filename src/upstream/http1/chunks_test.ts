import assert from "node:assert/strict";
import fc from "fast-check";
import { ChunkDecoder } from "./chunks.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The body, and what stands behind it; the bytes arrive in pieces of the given sizes. */
function decode(bytes: Uint8Array, sizes: readonly number[]): { body: string; rest: string } {
  const chunks = new ChunkDecoder();
  let body = "";
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    // In the middle of a larger buffer, as in a connection's.
    const buffer = new Uint8Array(bytes.length + 8).fill(255);
    const piece = bytes.subarray(at, at + sizes[turn % sizes.length]!);
    buffer.set(piece, 4);
    const end = chunks.pack(buffer, 4, 4 + piece.length);
    body += decoder.decode(buffer.subarray(4, end));
    at += chunks.next - 4;
    if (chunks.isDone) return { body, rest: decoder.decode(bytes.subarray(at)) };
  }
  throw new Error("no end");
}

Deno.test("a chunked body decodes the same wherever it is split", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "\r", "\n", "0", ";"), minLength: 1 });
  fc.assert(fc.property(
    fc.array(fc.record({ word, size: fc.constantFrom("x", "X", "0x", "ext", "blank") })),
    fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
    fc.constantFrom("", "x-sum: 1\r\n", "a: b\r\nc: d\r\n"),
    (parts, cuts, trailer) => {
      const written = parts.map(({ word, size }) => {
        const hex = word.length.toString(16);
        const line = {
          x: hex,
          X: hex.toUpperCase(),
          "0x": `00${hex}`,
          ext: `${hex};a=b;c`,
          blank: `${hex}  `,
        }[size];
        return `${line}\r\n${word}\r\n`;
      }).join("");
      const { body, rest } = decode(encoder.encode(`${written}0\r\n${trailer}\r\nnext`), cuts);
      assert.equal(body, parts.map(({ word }) => word).join(""));
      assert.equal(rest, "next");
    },
  ));
});

const BROKEN = [
  "\r\n",
  "g\r\n",
  "-1\r\n",
  " 5\r\nhello\r\n",
  "5\nhello\r\n",
  "5\r\nhello!\r\n",
  "5\r\nhello\n0\r\n\r\n",
  "5;a\nhello",
  "fffffffffffff\r\n",
  "0\r\nx: y\n\r\n",
  `5;${"a".repeat(20_000)}`,
  `0\r\n${"a: b\r\n".repeat(10_000)}`,
];

Deno.test("invalid chunks are rejected", () => {
  for (const text of BROKEN) {
    for (const size of [1, 100_000]) {
      assert.throws(
        () => decode(encoder.encode(text), [size]),
        { name: "InvalidResponse" },
        text.slice(0, 20),
      );
    }
  }
});
