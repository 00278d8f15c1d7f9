import assert from "node:assert/strict";
import { countTokens as exact } from "gpt-tokenizer/encoding/o200k_base";
import { countTokens } from "./count_tokens.ts";

const isNear = (counted: number, tokens: number, tolerance: number) =>
  assert.ok(Math.abs(counted / tokens - 1) <= tolerance, `${counted}, not ${tokens}`);

const PROSE = "The tide comes in twice a day, and no one on the coast of 1872 had asked it to. ";
const CODE = "const total = rows.reduce((sum, { amount }) => sum + amount, 0); // all of them\n  ";

Deno.test("text with spaces is counted as the encoder counts it", async () => {
  assert.equal(await countTokens(""), 0);
  for (
    const text of [PROSE, CODE, PROSE.repeat(100), "na\u00efve caf\u00e9 \ud83d\ude00 ".repeat(300)]
  ) {
    isNear(await countTokens(text), exact(text), 0.005);
  }
});

Deno.test("a run without a break is counted in pieces, also through the halves of a character", async () => {
  for (const letter of ["a", "A", " ", "\n", ".", "中", "\ud83d\ude00", "\ud800"]) {
    const text = letter.repeat(2001);
    isNear(await countTokens(text), exact(text), 0.05);
  }
});

Deno.test("a long text is sampled in all of its parts", async () => {
  isNear(await countTokens(PROSE.repeat(2000)), exact(PROSE) * 2000, 0.05);
  const half = "a".repeat(300_000) + " \u4e2d\u6587".repeat(100_000);
  isNear(await countTokens(half), 300_000 / 8 + exact(" \u4e2d\u6587".repeat(1000)) * 100, 0.1);
});

Deno.test("the name of a special token is text like any other", async () => {
  assert.ok(await countTokens("<|endoftext|>") > 1);
});
