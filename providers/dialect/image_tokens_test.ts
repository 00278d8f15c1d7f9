import assert from "node:assert/strict";
import { openAdapters } from "../registry.ts";

const ADAPTERS = openAdapters();
const size = (width: number, height: number) => ({ size: { width, height }, detail: null });
const openai = ADAPTERS.get("openai")!.chat!.imageTokens!;
const anthropic = ADAPTERS.get("anthropic")!.chat!.imageTokens!;
const gemini = ADAPTERS.get("gemini")!.chat!.imageTokens!;

Deno.test("images count at least what the documentation of each provider says", () => {
  // 1024 × 1024 is scaled to 768 × 768: four tiles. 2048 × 4096 to 768 × 1536: six.
  assert.equal(openai(size(1024, 1024), "gpt-4o"), 765);
  assert.ok(openai(size(2048, 4096), "gpt-4o")! >= 1105);
  assert.equal(openai({ size: { width: 4096, height: 8192 }, detail: "low" }, "gpt-4o"), 85);
  assert.equal(openai({ size: null, detail: "low" }, "gpt-4o-mini"), 2833);
  assert.equal(openai({ size: null, detail: null }, "gpt-4o-mini"), 2833 + 8 * 5667);
  assert.equal(openai(size(1024, 1024), "gpt-4.1-mini"), Math.ceil(1024 * 1.62));
  assert.equal(openai(size(1800, 2400), "gpt-4.1-mini"), Math.ceil(1536 * 1.62));
  assert.ok(anthropic(size(1000, 1000), "claude-sonnet-4-5")! >= 1334);
  assert.equal(anthropic({ size: null, detail: null }, "claude-sonnet-4-5"), 1600);
  assert.equal(anthropic({ size: null, detail: null }, "claude-opus-4-7"), 4800);
  assert.equal(gemini(size(384, 384), "gemini-2.5-flash"), 258);
  // 960 × 540: tiles of 360, three by two.
  assert.ok(gemini(size(960, 540), "gemini-2.5-flash")! >= 6 * 258);
  assert.equal(gemini(size(4000, 3000), "gemini-3-pro"), 2240);
});

Deno.test("an image without a known rule counts null", () => {
  assert.equal(openai(size(1024, 1024), "gpt-9"), null);
  assert.equal(gemini({ size: null, detail: null }, "gemini-2.5-flash"), null);
  assert.equal(ADAPTERS.get("vllm")!.chat!.imageTokens!(size(9, 9), "any"), null);
});
