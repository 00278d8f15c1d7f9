import assert from "node:assert/strict";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

const OPTIONS = { disallowedSpecial: new Set<string>() };

Deno.test("gpt-tokenizer: no token reaches across a space between two visible characters", () => {
  // src/lib/count_tokens.ts counts pieces that end there.
  const text = "The tide's 12345 stones, café — naïve über-long words_with_underscores; x=1 y=2";
  for (let at = 1; at < text.length - 1; at++) {
    if (text[at] !== " ") continue;
    const parts = countTokens(text.slice(0, at), OPTIONS) + countTokens(text.slice(at), OPTIONS);
    assert.equal(parts, countTokens(text, OPTIONS), text.slice(0, at));
  }
});

Deno.test("gpt-tokenizer: names of special tokens are ordinary text with disallowedSpecial", () => {
  assert.ok(countTokens("<|endoftext|>", OPTIONS) > 1);
});
