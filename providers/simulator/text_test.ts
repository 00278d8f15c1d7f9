import assert from "node:assert/strict";
import fc from "fast-check";
import { wordsOf, writeProse } from "./text.ts";
import { countTokens } from "./tokens.ts";

const topic = { seed: "", prompt: "", images: 0, files: 0, results: [] };

Deno.test("the words of a prompt are its distinctive ones, each once", () => {
  assert.deepEqual(wordsOf("Please tell the Tide about the tide and Brittany"), [
    "Tide",
    "Brittany",
  ]);
  assert.deepEqual(wordsOf("Hi"), ["Hi", "patience", "weather"]);
  assert.ok(wordsOf("写一首关于大海的诗").includes("大海"));
  assert.deepEqual(wordsOf(""), ["patience", "weather"]);
});

Deno.test("the text names the simulator and has at least sixty tokens", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), fc.string(), (prompt, seed) => {
    const text = writeProse({ ...topic, prompt, seed });
    assert.match(text, /simulator/);
    assert.ok(countTokens(text) >= 60, text);
  }));
});

Deno.test("the text has at least as many tokens as requested", () => {
  assert.ok(countTokens(writeProse({ ...topic, prompt: "a tide" }, 5000)) >= 5000);
});

Deno.test("the text quotes a long tool result only in part", () => {
  const text = writeProse({ ...topic, results: [{ tool: "look_up", text: "sea ".repeat(500) }] });
  assert.match(text, /The tool look_up answered “sea sea .*…”/);
  assert.ok(text.length < 1200);
});
