import assert from "node:assert/strict";
import { coveredMs, spansOf } from "./upstream_time.ts";

Deno.test("an upstream has a task from its submission until its end, or up to now", () => {
  assert.deepEqual(spansOf({ durations: [], sentMsAgo: 90, endedMsAgo: 10 }), [[90, 10]]);
  assert.deepEqual(spansOf({ durations: [], sentMsAgo: 90, endedMsAgo: 0 }), [[90, 0]]);
  assert.deepEqual(spansOf({ durations: [], sentMsAgo: null, endedMsAgo: 10 }), []);
});

Deno.test("failed attempts end where the next one begins, and calls of a text where it ended", () => {
  assert.deepEqual(
    spansOf({ durations: [5, 20], sentMsAgo: 90, endedMsAgo: 10 }),
    [[90, 10], [110, 90], [115, 110]],
  );
  assert.deepEqual(spansOf({ durations: [5], sentMsAgo: null, endedMsAgo: 10 }), [[15, 10]]);
});

Deno.test("a moment counts once, however many parts were at an upstream", () => {
  assert.equal(coveredMs([[90, 50], [80, 60], [70, 40], [30, 20]], 100), 60);
});

Deno.test("what was before the wait does not count", () => {
  assert.equal(coveredMs([[500, 400]], 100), 0);
  assert.equal(coveredMs([[500, 40], [30, 0]], 100), 90);
  assert.equal(coveredMs([], 100), 0);
});
