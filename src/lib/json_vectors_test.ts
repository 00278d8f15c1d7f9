import assert from "node:assert/strict";
import fc from "fast-check";
import {
  countBase64Floats,
  countFloats,
  isList,
  liftVectors,
  toBase64Floats,
} from "./json_vectors.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

Deno.test("lists and strings of the field are taken out, and the rest stays JSON", async () => {
  const text = `{"object": "embedding", "n": [1], "data": [
    {"embedding": [0.5, -1e-7], "object":"embedding"},
    {"embedding" :
      "AACAPw==", "note": "an \\"embedding\\": [2]"},
    {"embedding": null}]}`;
  const { json, vectors } = await liftVectors(bytesOf(text), "embedding");
  assert.deepEqual(vectors.map(textOf), ["[0.5, -1e-7]", '"AACAPw=="']);
  assert.deepEqual(vectors.map(isList), [true, false]);
  assert.deepEqual(JSON.parse(json), {
    object: "embedding",
    n: [1],
    data: [
      { embedding: 0, object: "embedding" },
      { embedding: 1, note: 'an "embedding": [2]' },
      { embedding: null },
    ],
  });
});

Deno.test("a text that ends within a vector stays as it is", async () => {
  const text = '{"embedding": [1, 2';
  assert.deepEqual(await liftVectors(bytesOf(text), "embedding"), { json: text, vectors: [] });
});

Deno.test("numbers of a list are counted, and what is no number is refused", () => {
  assert.equal(countFloats(bytesOf("[1]")), 1);
  assert.equal(countFloats(bytesOf("[ -0.5 ,\n 2e-10 , 3.0\t]")), 3);
  for (
    const wrong of [
      "[]",
      "[NaN]",
      "[null]",
      "[1,]",
      "[,1]",
      "[1,,2]",
      "[1 2]",
      '["1"]',
      "[[1]",
      "[ ]",
    ]
  ) {
    assert.throws(() => countFloats(bytesOf(wrong)), TypeError, wrong);
  }
});

Deno.test("floats of base64 are counted, and what is no base64 of floats is refused", () => {
  assert.equal(countBase64Floats(bytesOf('"AACAPw=="')), 1);
  for (const wrong of ['""', '"AAA="', '"AACAP?=="', '"AACAPw==', '"canary"']) {
    assert.throws(() => countBase64Floats(bytesOf(wrong)), TypeError, wrong);
  }
});

Deno.test("a list becomes the base64 of its 32-bit floats, little-endian", () => {
  assert.equal(textOf(toBase64Floats(bytesOf("[1,-2]"))), '"AACAPwAAAMA="');
  fc.assert(fc.property(
    fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }),
    (numbers) => {
      const encoded = toBase64Floats(bytesOf(JSON.stringify(numbers)));
      assert.equal(countBase64Floats(encoded), numbers.length);
      const bytes = Uint8Array.fromBase64(textOf(encoded).slice(1, -1));
      const view = new DataView(bytes.buffer);
      const read = numbers.map((_, at) => view.getFloat32(at * 4, true));
      assert.deepEqual(read.map((value) => value + 0), numbers.map((value) => value + 0));
    },
  ));
});
