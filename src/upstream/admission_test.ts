import assert from "node:assert/strict";
import fc from "fast-check";
import { planOf } from "../../test/helpers/media_calls.ts";
import { Admission, type Trial } from "./admission.ts";
import { UpstreamFailure } from "./failure.ts";

const plan = planOf({
  adapter: "runway",
  type: "video",
  model: "v",
  baseUrl: "http://127.0.0.1:1",
});
const provider = plan.providers.get("p")!;
const [upstream] = plan.models.get("m")!.upstreams;

const OF_JOB = new UpstreamFailure("failed", "500", { sent: "refused" });
const ILL = [
  new UpstreamFailure("failed", "500", { sent: "refused", retryAfterSeconds: 30 }),
  new UpstreamFailure("failed", "502", { sent: "maybe" }),
  new UpstreamFailure("overloaded", "503", { sent: "refused" }),
  new UpstreamFailure("unauthorized", "401", { sent: "refused" }),
  new UpstreamFailure("unreachable", "nobody there", { sent: "no" }),
  new UpstreamFailure("timeout", "silence", { sent: "maybe" }),
];

function open() {
  const admission = new Admission({ adapters: new Map(), onAttempt() {} });
  const enter = (trial: Trial) => admission.enterJob(upstream!, provider, trial);
  return {
    enter,
    fail: (trial: Trial, failure = OF_JOB) => enter(trial)?.end(failure),
    health: () => admission.healthOf(upstream!),
    hasRoom: (trial: Trial) => admission.hasRoom(upstream!, plan, trial),
  };
}

Deno.test("five jobs that fail make an upstream rest for who has failed, and for nobody else", () => {
  const { enter, fail, health, hasRoom } = open();
  for (let n = 0; n < 5; n++) fail("first");
  assert.equal(health().state, "open");
  assert.deepEqual([hasRoom("again"), enter("again")], [false, null]);
  assert.equal(hasRoom("first"), true);
  const { restUntil } = health();
  for (let n = 0; n < 20; n++) fail("first");
  assert.equal(health().restUntil, restUntil, "and others that fail do not lengthen the rest");
  enter("first")!.end(null);
  assert.equal(health().state, "closed", "one that goes well ends it");
  assert.equal(health().in_flight, 0);
});

Deno.test("failures of jobs that were on their way do not lengthen the rest", () => {
  const { enter, health } = open();
  const places = Array.from({ length: 40 }, () => enter("first")!);
  for (const place of places.slice(0, 5)) place.end(OF_JOB);
  const { restUntil } = health();
  for (const place of places.slice(5)) place.end(OF_JOB);
  assert.equal(health().restUntil, restUntil);
  assert.equal(health().in_flight, 0);
});

Deno.test("an upstream that is ill rests for everybody, however it shows", () => {
  for (const failure of ILL) {
    const { enter, fail, health } = open();
    for (let n = 0; n < 4; n++) fail("first");
    fail("again", failure);
    assert.equal(health().state, "open", failure.message);
    assert.equal(enter("first"), null, failure.message);
  }
});

Deno.test("an upstream that turns out to be ill while it rests keeps its door shut", () => {
  const { enter, fail } = open();
  for (let n = 0; n < 5; n++) fail("first");
  fail("first", ILL[4]);
  assert.equal(enter("first"), null);
});

Deno.test("whatever jobs fail in whatever order, one that is new is let in, and repeats count for nothing", () => {
  fc.assert(fc.property(
    fc.array(fc.constantFrom("first", "again", "well"), { maxLength: 60 }),
    (story) => {
      const { enter, fail, health } = open();
      let inRow = 0;
      for (const step of story) {
        if (step === "well") enter("first")!.end(null);
        else fail(step as Trial);
        inRow = step === "well" ? 0 : inRow + (step === "first" ? 1 : 0);
        assert.equal(health().state, inRow >= 5 ? "open" : "closed");
        const place = enter("first");
        assert.ok(place !== null);
        place.abandon();
      }
      assert.equal(health().in_flight, 0);
    },
  ));
});
