import assert from "node:assert/strict";
import fc from "fast-check";
import { tokenize } from "./tokens.ts";

Deno.test("tokens are words and marks with the space before them", () => {
  assert.deepEqual(tokenize("Hello, the simulator said “tide”."), [
    "Hello",
    ",",
    " the",
    " simulator",
    " said",
    " “",
    "tide",
    "”",
    ".",
  ]);
  assert.deepEqual(tokenize("internationalization 大海\n\n  x"), [
    "internationa",
    "lization",
    " 大",
    "海",
    "\n\n  ",
    "x",
  ]);
  assert.deepEqual(tokenize(""), []);
});

Deno.test("tokens joined are the text again, and each stands on its own", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 30 }), (text) => {
      const tokens = tokenize(text);
      assert.equal(tokens.join(""), text);
      for (const token of tokens) assert.equal(tokenize(token).length, 1);
    }),
    { numRuns: 50 },
  );
});
