import assert from "node:assert/strict";
import { findBannedWords } from "./banned_words.ts";

const wordsIn = (text: string) => findBannedWords("src/x.ts", text).map(({ word }) => word);

Deno.test("a banned word is found in prose, identifiers, constants and plurals", () => {
  for (
    const text of [
      "enlistEvent",
      "reEnlist",
      "to enlist an event",
      "Enlist it",
      "ENLIST_MAX",
      "enlist_event",
      "enlists",
    ]
  ) assert.deepEqual(wordsIn(text), ["enlist"], text);
});

Deno.test("a word of several parts is found in every spelling", () => {
  for (const text of ["livingMax", "LivingMax", "living_max", "living max", "LIVING_MAX"]) {
    assert.deepEqual(wordsIn(text), ["living max"], text);
  }
});

Deno.test("a longer word that contains a banned one passes", () => {
  for (
    const text of [
      "potential spotlight",
      "legacy",
      "storyboard history",
      "planed",
      "labelledby",
      "clipboard",
    ]
  ) assert.deepEqual(wordsIn(text), [], text);
});

Deno.test("words of other APIs pass: OpenAI's refusal, Gemini's declarations, TypeScript's nodes", () => {
  assert.deepEqual(wordsIn("delta.refusal, response.refusal.done"), []);
  assert.deepEqual(wordsIn("functionDeclarations, ImportDeclaration, an export declaration"), []);
  assert.deepEqual(wordsIn("class Refusal, toRefusal(), the declaration"), [
    "Refusal",
    "Refusal",
    "declaration",
  ]);
});
