import assert from "node:assert/strict";
import { sleep } from "../lib/timers.ts";
import { NotSent } from "./adapter.ts";
import { Deadline } from "./deadline.ts";
import { UpstreamFailure } from "./failure.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const never = () => new AbortController().signal;

function failureOf(deadline: Deadline, cause: unknown) {
  const { kind, received } = deadline.toFailure(cause);
  return [kind, received];
}

Deno.test("an error is what happened to the request, never what its text says", STRICT, () => {
  using deadline = new Deadline({ totalMs: 60_000, signal: never() });
  assert.deepEqual(failureOf(deadline, new NotSent("it was sent")), ["unreachable", "no"]);
  assert.deepEqual(failureOf(deadline, new Error("connection refused")), ["cut", "unknown"]);
  const known = new UpstreamFailure("rejected", "400", { received: "declined" });
  assert.equal(deadline.toFailure(known), known);
});

Deno.test("a deadline ends a silence, a whole exchange, and neither early", STRICT, async () => {
  using silent = new Deadline({ silenceMs: 80, signal: never() });
  using whole = new Deadline({ totalMs: 80, signal: never() });
  await sleep(40);
  assert.deepEqual([silent.signal.aborted, whole.signal.aborted], [false, false]);
  silent.resetTimer();
  await sleep(60);
  assert.deepEqual([silent.signal.aborted, whole.signal.aborted], [false, true]);
  silent.pauseTimer();
  await sleep(100);
  assert.equal(silent.signal.aborted, false, "a slow reader is no silence");
  silent.resetTimer();
  await sleep(120);
  assert.equal(silent.signal.aborted, true);
  for (const late of [silent, whole]) {
    assert.deepEqual(failureOf(late, late.signal.reason), ["timeout", "unknown"]);
    assert.deepEqual(failureOf(late, new NotSent("no byte left")), ["timeout", "no"]);
  }
});

Deno.test("the outer signal ends it with its reason, until it is ignored", STRICT, () => {
  const outer = new AbortController();
  using first = new Deadline({ silenceMs: 60_000, signal: outer.signal });
  using second = new Deadline({ totalMs: 60_000, signal: outer.signal });
  second.ignoreOuter();
  outer.abort("left");
  assert.deepEqual([first.signal.reason, second.signal.aborted], ["left", false]);
  using third = new Deadline({ totalMs: 60_000, signal: outer.signal });
  assert.equal(third.signal.reason, "left");
  second.abort();
  assert.equal(second.signal.aborted, true);
});
