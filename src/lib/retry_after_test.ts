import assert from "node:assert/strict";
import { retryAfter } from "./retry_after.ts";

Deno.test("Retry-After is seconds or a date in the future, and never more than the limit", () => {
  const now = Date.UTC(2026, 0, 1);
  const read = (text: string | null) => retryAfter(text, 3600, now);
  assert.equal(read("120"), 120);
  assert.equal(read(" 0 "), 0);
  assert.equal(read("1.2"), 2);
  assert.equal(read("Thu, 01 Jan 2026 00:02:00 GMT"), 120);
  assert.equal(read("999999999999"), 3600);
  assert.equal(read("Thu, 01 Jan 2037 00:00:00 GMT"), 3600);
  for (const text of [null, "", "soon", "-5", "Wed, 31 Dec 2025 00:00:00 GMT"]) {
    assert.equal(read(text), undefined, String(text));
  }
});
