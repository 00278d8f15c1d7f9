import assert from "node:assert/strict";
import fc from "fast-check";
import { RateLimiter } from "./rate_limit.ts";

Deno.test("a key may spend its minute at once, and not one request more", () => {
  const limiter = new RateLimiter();
  for (let left = 4; left >= 0; left--) {
    const allowance = limiter.take("key", 5, 1, 0);
    assert.equal(allowance.allowed, true);
    assert.equal(allowance.remaining, left);
  }
  assert.deepEqual(limiter.take("key", 5, 1, 0), {
    allowed: false,
    limit: 5,
    remaining: 0,
    resetSeconds: 60,
    retryAfterSeconds: 12,
  });
  assert.equal(limiter.take("another", 5, 1, 0).allowed, true);
});

Deno.test("the limit refills evenly, not at the end of a window", () => {
  let now = 0;
  const limiter = new RateLimiter();
  for (let i = 0; i < 60; i++) limiter.take("key", 60, 1, now);
  for (let second = 1; second <= 120; second++) {
    now = second * 1000;
    assert.equal(limiter.take("key", 60, 1, now).allowed, true, `second ${second}`);
    assert.equal(limiter.take("key", 60, 1, now).allowed, false, `second ${second}`);
  }
});

Deno.test("a rejected request takes nothing", () => {
  const limiter = new RateLimiter();
  assert.equal(limiter.take("key", 10, 11, 0).allowed, false);
  assert.equal(limiter.take("key", 10, 10, 0).allowed, true);
});

Deno.test("in any period no more passes than one burst plus the rate", () => {
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 1000 }),
    fc.array(
      fc.record({
        wait: fc.integer({ min: 0, max: 5000 }),
        amount: fc.integer({ min: 1, max: 20 }),
      }),
      {
        minLength: 1,
        maxLength: 200,
      },
    ),
    (perMinute, steps) => {
      let now = 0;
      let passed = 0;
      const limiter = new RateLimiter();
      for (const { wait, amount } of steps) {
        now += wait;
        const { allowed, remaining } = limiter.take("key", perMinute, amount, now);
        if (allowed) passed += amount;
        assert.ok(remaining >= 0 && remaining <= perMinute);
        assert.ok(passed <= perMinute + perMinute * now / 60_000 + 1e-6);
      }
    },
  ));
});

Deno.test("corrected usage beyond the limit must refill before the next request passes", () => {
  const limiter = new RateLimiter();
  assert.equal(limiter.take("key", 60, 1, 0).allowed, true);
  limiter.owe("key", 60, 89, 0);
  const refused = limiter.take("key", 60, 1, 0);
  assert.equal(refused.allowed, false);
  assert.equal(refused.retryAfterSeconds, 31);
  assert.equal(limiter.take("key", 60, 1, 31_000).allowed, true);
});

Deno.test("buckets that are full again are forgotten when there are many", () => {
  const limiter = new RateLimiter();
  const fill = (name: string, count: number, now: number) => {
    for (let n = 0; n < count; n++) limiter.take(`${name} ${n}`, 1, 1, now);
  };
  fill("old", 10, 0);
  fill("young", 49_990, 60_000);
  assert.equal(limiter.size, 50_000, "none is looked for yet");
  fill("next", 1, 60_000);
  assert.equal(limiter.size, 49_991, "the ten were full at that moment");
  // The next look comes when there are twice as many.
  fill("later", 49_991, 120_000);
  assert.equal(limiter.size, 99_982);
  fill("last", 1, 120_000);
  assert.equal(limiter.size, 49_992, "those of a minute ago are gone");
});
