import assert from "node:assert/strict";
import { type FailureKind, type Received, UpstreamFailure } from "./failure.ts";
import {
  decideFallback,
  type FallbackDecision,
  untilAvailableMs,
  untilNextRoundMs,
} from "./fallback.ts";

const TABLE: readonly [FailureKind, Received, FallbackDecision, FallbackDecision][] = [
  // kind, received, repeatable (chat), once (paid jobs)
  ["unreachable", "no", "next", "next"],
  ["unable", "no", "next", "next"],
  ["overloaded", "no", "wait", "wait"],
  ["overloaded", "declined", "next", "next"],
  ["rate_limited", "declined", "next", "next"],
  ["unauthorized", "declined", "next", "next"],
  ["failed", "declined", "next", "next"],
  ["rejected", "declined", "fail", "fail"],
  ["too_long", "declined", "fail", "fail"],
  ["rejected", "unknown", "fail", "look_up"],
  ["failed", "unknown", "next", "look_up"],
  ["timeout", "unknown", "next", "look_up"],
  ["cut", "unknown", "next", "look_up"],
  ["unreadable", "unknown", "next", "look_up"],
  ["unreachable", "unknown", "next", "look_up"],
];

for (const [kind, received, repeatable, once] of TABLE) {
  Deno.test(`${kind}, received ${received}: ${repeatable} for a chat, ${once} for a job`, () => {
    const failure = new UpstreamFailure(kind, "as the table says", { received });
    assert.equal(decideFallback(failure, "repeatable"), repeatable);
    assert.equal(decideFallback(failure, "once"), once);
  });
}

Deno.test("rounds come later each time, with jitter, and there are four of them", () => {
  const delays = (random: number) =>
    [0, 1, 2, 3].map((rounds) => untilNextRoundMs(rounds, "failed", () => random));
  assert.deepEqual(delays(0.5), [1_500, 3_000, 6_000, null]);
  assert.deepEqual(delays(0), [1_200, 2_400, 4_800, null]);
  assert.equal(untilNextRoundMs(0, "unable"), null, "no round changes what an upstream supports");
});

Deno.test("a job that has failed lets others try an upstream first", () => {
  assert.deepEqual([0, 1, 2].map((rounds) => untilAvailableMs(rounds, 500)), [500, 3_500, 6_500]);
});
