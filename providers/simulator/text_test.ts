import assert from "node:assert/strict";
import fc from "fast-check";
import { proseOn, wordsOf } from "./text.ts";
import { countTokens } from "./tokens.ts";

const topic = { seed: "", prompt: "", images: 0, files: 0, results: [] };

Deno.test("the words of a prompt worth repeating are the telling ones, each once", () => {
  assert.deepEqual(wordsOf("Please tell the Tide about the tide and Brittany"), [
    "Tide",
    "Brittany",
  ]);
  assert.deepEqual(wordsOf("Hi"), ["Hi", "patience", "weather"]);
  assert.ok(wordsOf("写一首关于大海的诗").includes("大海"));
  assert.deepEqual(wordsOf(""), ["patience", "weather"]);
});

Deno.test("prose says that a simulator speaks, and is at least sixty tokens long", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), fc.string(), (prompt, seed) => {
    const text = proseOn({ ...topic, prompt, seed });
    assert.match(text, /simulator/);
    assert.ok(countTokens(text) >= 60, text);
  }));
});

Deno.test("prose is as long as asked", () => {
  assert.ok(countTokens(proseOn({ ...topic, prompt: "a tide" }, 5000)) >= 5000);
});

Deno.test("prose quotes a long answer of a tool only in part", () => {
  const text = proseOn({ ...topic, results: [{ tool: "look_up", text: "sea ".repeat(500) }] });
  assert.match(text, /The tool look_up answered “sea sea .*…”/);
  assert.ok(text.length < 1200);
});
