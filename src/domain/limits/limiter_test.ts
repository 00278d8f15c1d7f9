import assert from "node:assert/strict";
import { allowance, isWithinAllowance } from "./limiter.ts";

Deno.test("an allowance says what is left, and when it is full again", () => {
  // Sixty a minute: one a second. Twenty seconds are used.
  assert.deepEqual(allowance(true, 60, 20_000, 1_000), {
    allowed: true,
    limit: 60,
    remaining: 40,
    resetSeconds: 20,
    retryAfterSeconds: 0,
  });
  assert.equal(allowance(true, 60, 19_999, 1_000).remaining, 40, "not another one yet");
  assert.equal(allowance(true, 60, 20_000.5, 1_000).remaining, 39);
  assert.equal(allowance(true, 60, 20_000.5, 1_000).resetSeconds, 21);
  assert.deepEqual(
    [allowance(true, 60, 60_000, 0).remaining, allowance(true, 60, 90_000, 0).remaining],
    [0, 0],
  );
});

Deno.test("a rejected request is told when it would pass, in whole seconds from one up", () => {
  const retryAfter = (level: number, need: number) =>
    allowance(false, 60, level, need).retryAfterSeconds;
  assert.equal(retryAfter(60_000, 12_000), 12);
  assert.equal(retryAfter(60_000, 11_001), 12);
  assert.equal(retryAfter(59_990, 100), 1);
  assert.equal(retryAfter(60_000, 0), 1);
});

Deno.test("a debt counts as used, a credit as nothing; inexact times make no difference", () => {
  assert.equal(allowance(true, 60, -5_000, 1_000).remaining, 60);
  assert.equal(String(allowance(true, 60, -5_000, 1_000).resetSeconds), "0");
  assert.ok(isWithinAllowance(59_000, 1_000));
  assert.ok(isWithinAllowance(59_000, 1_000.0009));
  assert.ok(!isWithinAllowance(59_000, 1_000.002));
  assert.ok(isWithinAllowance(-5_000, 60_000), "a minute at the most");
  assert.ok(!isWithinAllowance(-5_000, 61_000));
  // A third of a minute, three times.
  const third = 60_000 / 3;
  assert.ok(isWithinAllowance(third + third, third + 1e-9));
  assert.equal(allowance(true, 3, third + third + 1e-9, third).remaining, 1);
  assert.equal(allowance(true, 3, third + 1e-9, third).resetSeconds, 20);
  assert.equal(allowance(false, 3, 60_000 + 1e-9, third).retryAfterSeconds, 20);
});
