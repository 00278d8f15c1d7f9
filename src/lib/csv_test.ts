import assert from "node:assert/strict";
import fc from "fast-check";
import { quoteCsv, readCsv } from "./csv.ts";

/** Cuts a text into pieces of one length. */
async function* cut(text: string, length: number): AsyncGenerator<string> {
  await Promise.resolve();
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
}

const lineOf = (fields: readonly (string | null)[]) =>
  fields.map((field) => field === null ? "" : field === "" ? '""' : quoteCsv(field)).join() + "\n";

Deno.test("lines are read as they were written, in pieces of any size", async () => {
  const field = fc.option(fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r", " ") }));
  const lines = fc.array(fc.array(field, { minLength: 1, maxLength: 4 }), { maxLength: 5 });
  await fc.assert(fc.asyncProperty(lines, fc.integer({ min: 1, max: 7 }), async (lines, size) => {
    const text = lines.map(lineOf).join("");
    assert.deepEqual(await Array.fromAsync(readCsv(cut(text, size))), lines);
  }));
});

Deno.test("nothing is null, and a pair of quotes is an empty text, as Postgres has it", async () => {
  const [line] = await Array.fromAsync(readCsv(cut(',"","say ""hi""","a,b",1\n', 100)));
  assert.deepEqual(line, [null, "", 'say "hi"', "a,b", "1"]);
});
