import assert from "node:assert/strict";
import fc from "fast-check";
import { planOf } from "../../test/helpers/media_calls.ts";
import { Admission, type AttemptKind } from "./admission.ts";
import { type FailureKind, UpstreamFailure } from "./failure.ts";

const config = planOf({
  adapter: "runway",
  type: "video",
  model: "v",
  baseUrl: "http://127.0.0.1:1",
});
const provider = config.providers.get("p")!;
const [upstream] = config.models.get("m")!.upstreams;

const JOB_FAILURE = new UpstreamFailure("failed", "500", { received: "declined" });
const OUTAGES = [
  new UpstreamFailure("failed", "500", { received: "declined", retryAfterSeconds: 30 }),
  new UpstreamFailure("failed", "502", { received: "unknown" }),
  new UpstreamFailure("overloaded", "503", { received: "declined" }),
  new UpstreamFailure("unauthorized", "401", { received: "declined" }),
  new UpstreamFailure("unreachable", "connection refused", { received: "no" }),
  new UpstreamFailure("timeout", "silence", { received: "unknown" }),
];

function open() {
  const admission = new Admission({ adapters: new Map(), onAttempt() {} });
  const acquire = (kind: AttemptKind) => admission.acquireForJob(upstream!, provider, kind);
  return {
    acquire,
    fail: (kind: AttemptKind, failure = JOB_FAILURE) => acquire(kind)?.release(failure),
    health: () => admission.getHealth(upstream!),
    hasRoom: (kind: AttemptKind) => admission.hasCapacity(upstream!, config, kind),
  };
}

Deno.test("five failed jobs open the breaker for jobs that failed before, not for new jobs", () => {
  const { acquire, fail, health, hasRoom } = open();
  for (let n = 0; n < 5; n++) fail("first");
  assert.equal(health().state, "open");
  assert.deepEqual([hasRoom("retry"), acquire("retry")], [false, null]);
  assert.equal(hasRoom("first"), true);
  const { openUntil } = health();
  for (let n = 0; n < 20; n++) fail("first");
  assert.equal(health().openUntil, openUntil, "and further failures do not extend it");
  acquire("first")!.release(null);
  assert.equal(health().state, "closed", "one that goes well ends it");
  assert.equal(health().in_flight, 0);
});

Deno.test("failures of jobs in flight do not extend the time that the breaker is open", () => {
  const { acquire, health } = open();
  const permits = Array.from({ length: 40 }, () => acquire("first")!);
  for (const permit of permits.slice(0, 5)) permit.release(JOB_FAILURE);
  const { openUntil } = health();
  for (const permit of permits.slice(5)) permit.release(JOB_FAILURE);
  assert.equal(health().openUntil, openUntil);
  assert.equal(health().in_flight, 0);
});

Deno.test("an outage opens the breaker for all jobs, whatever the failure", () => {
  for (const failure of OUTAGES) {
    const { acquire, fail, health } = open();
    for (let n = 0; n < 4; n++) fail("first");
    fail("retry", failure);
    assert.equal(health().state, "open", failure.message);
    assert.equal(acquire("first"), null, failure.message);
  }
});

Deno.test("an outage seen while the breaker is open rejects new jobs too", () => {
  const { acquire, fail } = open();
  for (let n = 0; n < 5; n++) fail("first");
  fail("first", OUTAGES[4]);
  assert.equal(acquire("first"), null);
});

Deno.test("whatever jobs fail in whatever order, a new job is admitted, and repeated failures do not count", () => {
  fc.assert(fc.property(
    fc.array(fc.constantFrom("first", "retry", "well"), { maxLength: 60 }),
    (steps) => {
      const { acquire, fail, health } = open();
      let inRow = 0;
      for (const step of steps) {
        if (step === "well") acquire("first")!.release(null);
        else fail(step as AttemptKind);
        inRow = step === "well" ? 0 : inRow + (step === "first" ? 1 : 0);
        assert.equal(health().state, inRow >= 5 ? "open" : "closed");
        const permit = acquire("first");
        assert.ok(permit !== null);
        permit.abandon();
      }
      assert.equal(health().in_flight, 0);
    },
  ));
});

/** Failures of chats as `call_chat.ts` makes them. */
const failed = (status: number, kind: FailureKind = "failed", retryAfterSeconds?: number) =>
  new UpstreamFailure(kind, `the upstream answered ${status}`, { status, retryAfterSeconds });

Deno.test("errors about the request never count, whatever their text", () => {
  const admission = new Admission({ adapters: new Map(), onAttempt() {} });
  for (const status of [400, 404, 405, 409, 413, 414, 415, 422, 431]) {
    for (const kind of ["failed", "rate_limited", "unreadable"] as const) {
      for (let n = 0; n < 6; n++) {
        admission.acquire(upstream!, provider, "mallory")!.release(failed(status, kind, 30));
      }
      assert.equal(admission.getHealth(upstream!).state, "closed", `${status} ${kind}`);
    }
  }
});

Deno.test("a failure that a request can provoke rejects its account alone; an outage rejects all accounts, an overload all once two accounts met it", () => {
  const provoked = [
    failed(500),
    failed(403, "unauthorized"),
    failed(402, "unauthorized"),
    new UpstreamFailure("timeout", "silence"),
    new UpstreamFailure("cut", "the stream ended without its end"),
    new UpstreamFailure("unreadable", "the reply cannot be read"),
    new UpstreamFailure("unreachable", "the connection broke", { received: "unknown" }),
  ];
  const overloads = [
    failed(429, "rate_limited"),
    failed(498, "overloaded"),
    failed(503, "overloaded"),
    failed(429, "rate_limited", 60),
    failed(500, "failed", 5),
  ];
  const outages = [
    failed(401, "unauthorized"),
    failed(401, "unauthorized", 5),
    new UpstreamFailure("unreachable", "connection refused", { received: "no" }),
  ];
  for (const failure of [...provoked, ...overloads, ...outages]) {
    const admission = new Admission({ adapters: new Map(), onAttempt() {} });
    const acquire = (account: string) => admission.acquire(upstream!, provider, account);
    const checkRoom = (account: string, isLetIn: boolean) => {
      const permit = acquire(account);
      assert.equal(permit !== null, isLetIn, `${account}: ${failure.message}`);
      permit?.abandon();
    };
    for (let n = 0; n < 5; n++) acquire("mallory")?.release(failure);
    assert.equal(admission.getHealth(upstream!).state, "open", failure.message);
    assert.equal(acquire("mallory"), null, failure.message);
    checkRoom("bob", !outages.includes(failure));
    // An overload that a second account meets is the upstream's own.
    acquire("bob")?.release(failure);
    checkRoom("bob", false);
    checkRoom("carol", provoked.includes(failure));
    assert.equal(admission.getHealth(upstream!).in_flight, 0);
  }
});

Deno.test("however some accounts fail, an account whose requests succeed is never blocked", () => {
  fc.assert(fc.property(
    fc.array(fc.constantFrom("m1", "m2", "m3", "bob"), { maxLength: 80 }),
    (steps) => {
      const admission = new Admission({ adapters: new Map(), onAttempt() {} });
      for (const account of steps) {
        const permit = admission.acquire(upstream!, provider, account);
        if (account !== "bob") permit?.release(failed(500));
        else {
          assert.ok(permit !== null);
          permit.release(null);
        }
      }
      assert.equal(admission.getHealth(upstream!).in_flight, 0);
    },
  ));
});

Deno.test("a breaker is reported once when it opens and once when it closes, not for every failure", () => {
  const changes: boolean[] = [];
  const admission = new Admission({
    adapters: new Map(),
    onAttempt() {},
    onBreaker: ({ isOpen }) => void changes.push(isOpen),
  });
  const attempt = (failure: UpstreamFailure | null) =>
    admission.acquire(upstream!, provider, "acc_1")?.release(failure);
  const permits = Array.from({ length: 8 }, () => admission.acquire(upstream!, provider, "acc_1"));
  for (const permit of permits) permit!.release(OUTAGES[4]!);
  assert.deepEqual(changes, [true]);
  assert.equal(attempt(null), undefined, "no permit while it is open");
  admission.reportAttempt(upstream!, OUTAGES[4]!);
  assert.deepEqual(changes, [true]);
  const late = permits[0]!;
  late.release(null);
  assert.deepEqual(changes, [true, false]);
  attempt(null);
  assert.deepEqual(changes, [true, false]);
});
