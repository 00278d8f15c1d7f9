import assert from "node:assert/strict";
import fc from "fast-check";
import { csvLine, readCsv } from "./csv.ts";

/** Cuts a text into pieces of the given lengths, again and again. */
async function* cut(text: string, length: number): AsyncGenerator<string> {
  await Promise.resolve();
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
}

Deno.test("lines are read as they were written, in pieces of any size", async () => {
  const field = fc.option(fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r", " ") }));
  const lines = fc.array(fc.array(field, { minLength: 1, maxLength: 4 }), { maxLength: 5 });
  await fc.assert(fc.asyncProperty(lines, fc.integer({ min: 1, max: 7 }), async (lines, size) => {
    const text = lines.map(csvLine).join("");
    assert.deepEqual(await Array.fromAsync(readCsv(cut(text, size))), lines);
  }));
});

Deno.test("null is nothing and an empty text is a pair of quotes, as Postgres has it", () => {
  assert.equal(csvLine([null, "", 'say "hi"', "a,b", "1"]), ',"","say ""hi""","a,b",1\n');
});
