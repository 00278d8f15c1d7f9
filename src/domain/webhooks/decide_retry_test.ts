import assert from "node:assert/strict";
import { decideRetry } from "./decide_retry.ts";

const SCHEDULE = [0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400];
const saw = (status: number | null, retryAfterSeconds: number | null = null) => ({
  status,
  retryAfterSeconds,
});
const nth = (round: number) => ({ round, isTest: false });

Deno.test("2xx is success, 410 the end, and everything else a reason to try again", () => {
  for (const status of [200, 201, 204, 299]) {
    assert.deepEqual(decideRetry(nth(0), saw(status), SCHEDULE), { outcome: "delivered" });
  }
  assert.deepEqual(decideRetry(nth(0), saw(410), SCHEDULE), { outcome: "failed", reason: "gone" });
  for (const status of [null, 100, 199, 300, 301, 302, 304, 400, 401, 404, 429, 500, 503]) {
    assert.equal(decideRetry(nth(0), saw(status), SCHEDULE).outcome, "retry", String(status));
  }
});

Deno.test("each retry waits as the schedule says, a fifth more or less, until it ends", () => {
  for (let round = 0; round < SCHEDULE.length - 1; round++) {
    const seconds = SCHEDULE[round + 1]!;
    for (const random of [0, 0.5, 0.999]) {
      const decision = decideRetry(nth(round), saw(500), SCHEDULE, () => random);
      assert.ok(decision.outcome === "retry");
      const wait = decision.waitMs / 1000;
      assert.ok(wait >= seconds * 0.8 - 0.001 && wait <= seconds * 1.2, `${seconds}: ${wait}`);
    }
  }
  const last = decideRetry(nth(SCHEDULE.length - 1), saw(500), SCHEDULE);
  assert.deepEqual(last, { outcome: "failed", reason: "retries_spent" });
  const test = decideRetry({ round: 0, isTest: true }, saw(500), SCHEDULE);
  assert.deepEqual(test, { outcome: "failed", reason: "retries_spent" });
});

Deno.test("a wait is spread evenly around the schedule's, in whole milliseconds", () => {
  const waitMs = (random: number, seconds: number) => {
    const decision = decideRetry(nth(0), saw(500), [0, seconds], () => random);
    return decision.outcome === "retry" ? decision.waitMs : null;
  };
  assert.deepEqual([0, 0.25, 0.5, 1].map((random) => waitMs(random, 300)), [
    240_000,
    270_000,
    300_000,
    360_000,
  ]);
  assert.equal(waitMs(0.5, 0.0016), 2);
  const spread = new Set(Array.from({ length: 20 }, () => {
    const decision = decideRetry(nth(1), saw(500), SCHEDULE);
    return decision.outcome === "retry" ? decision.waitMs : null;
  }));
  assert.ok(spread.size > 1, "by chance");
});

Deno.test("Retry-After only ever makes a wait longer, and by a day at the most", () => {
  const wait = (seconds: number) => {
    const decision = decideRetry(nth(1), saw(503, seconds), SCHEDULE, () => 0.5);
    return decision.outcome === "retry" ? decision.waitMs / 1000 : null;
  };
  assert.deepEqual([wait(1), wait(1000), wait(10 ** 9)], [300, 1000, 86_400]);
  assert.deepEqual([wait(86_400), wait(86_401)], [86_400, 86_400]);
});
