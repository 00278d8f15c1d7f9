import assert from "node:assert/strict";
import { ApiError } from "../../lib/api_error.ts";
import { BodyBudget, type BodyLimits } from "./body_budget.ts";

const K = 1_000_000;
const LIMITS = { bodyBytesTotalMax: 400 * K, bodyBytesAccountMax: 40 * K };
const refusedWith = (code: string) => (error: unknown) =>
  error instanceof ApiError && error.code === code && error.retryAfterSeconds === 1;

/** A body that has come, so far. */
function come(budget: BodyBudget, owner: string, bytes: number, limits: BodyLimits = LIMITS) {
  const body = budget.take(owner, bytes, limits);
  try {
    body.arrive(bytes);
  } catch (error) {
    body.release();
    throw error;
  }
  return body;
}

function whole(...args: Parameters<typeof come>) {
  const body = come(...args);
  body.finishReading();
  return body;
}

Deno.test("an account has its limit of bytes, and the process one for all accounts", () => {
  const budget = new BodyBudget(1);
  const first = whole(budget, "a", 30 * K);
  assert.throws(() => budget.take("a", 20 * K, LIMITS), refusedWith("concurrency_limit_exceeded"));
  const rest = Array.from({ length: 9 }, (_, at) => whole(budget, `b${at}`, 40 * K));
  assert.throws(() => whole(budget, "c", 20 * K), refusedWith("overloaded"));
  first.release();
  first.release();
  whole(budget, "a", 39 * K);
  rest[0]!.release();
  assert.throws(() => whole(budget, "d", 42 * K), refusedWith("overloaded"), "released once");
  whole(budget, "d", 40 * K);
});

Deno.test("announced bytes count only for the account until they arrive", () => {
  const budget = new BodyBudget(1);
  for (let at = 0; at < 100; at++) budget.take(`a${at}`, 39 * K, LIMITS);
  assert.throws(() => budget.take("a0", 39 * K, LIMITS), refusedWith("concurrency_limit_exceeded"));
  whole(budget, "b", 39 * K);
});

Deno.test("an account has no more than an eighth of the total, and threads share both", () => {
  const limits = { bodyBytesTotalMax: 400 * K, bodyBytesAccountMax: 400 * K };
  const budget = new BodyBudget(2);
  budget.take("a", 20 * K, limits);
  assert.throws(() => budget.take("a", 6 * K, limits), refusedWith("concurrency_limit_exceeded"));
  budget.take("a", 5 * K, limits);
});

Deno.test("a body of unknown length is rejected when it exceeds what is left", () => {
  const budget = new BodyBudget(1);
  budget.take("a", 1 * K, LIMITS);
  const body = budget.take("a", 0, LIMITS);
  body.arrive(39 * K);
  assert.throws(() => body.arrive(1), refusedWith("concurrency_limit_exceeded"));
  body.release();
  budget.take("a", 39 * K, LIMITS);
});

Deno.test("what a stream keeps of its request counts for less, until the stream ends", () => {
  const budget = new BodyBudget(1);
  const streams = Array.from({ length: 4 }, () => {
    const body = whole(budget, "a", 10 * K);
    body.keep();
    return body;
  });
  const last = whole(budget, "a", 28 * K);
  assert.throws(() => budget.take("a", 3 * K, LIMITS), refusedWith("concurrency_limit_exceeded"));
  for (const body of [...streams, last]) body.release();
  whole(budget, "a", 40 * K);
});

Deno.test("threads share the limit of the process; a single body always fits", () => {
  const budget = new BodyBudget(4);
  const large = whole(budget, "a", 300 * K);
  assert.throws(() => whole(budget, "b", 2 * K), refusedWith("overloaded"));
  large.release();
  for (let at = 0; at < 10; at++) whole(budget, `b${at}`, 9.9 * K);
  assert.throws(() => whole(budget, "c", 10 * K), refusedWith("overloaded"));
});

Deno.test("a small body of an account without others is accepted when the process is full", () => {
  const budget = new BodyBudget(1);
  const limits = { bodyBytesTotalMax: 32 * K, bodyBytesAccountMax: 32 * K };
  whole(budget, "a", 31.9 * K, limits);
  const small = Array.from({ length: 8 }, (_, at) => whole(budget, `b${at}`, 0.9 * K, limits));
  assert.throws(() => whole(budget, "b0", 0.9 * K, limits), refusedWith("overloaded"));
  assert.throws(() => whole(budget, "c", 1.1 * K, limits), refusedWith("overloaded"));
  assert.throws(() => whole(budget, "d", 0.9 * K, limits), refusedWith("overloaded"), "the margin");
  small[0]!.release();
  whole(budget, "d", 0.9 * K, limits);
});

Deno.test("when the process is full the bodies of the largest account that are still read are aborted", () => {
  const budget = new BodyBudget(1);
  const cancelled: string[] = [];
  const read = (owner: string, bytes: number) => {
    const body = come(budget, owner, bytes);
    body.onCancel = () => cancelled.push(owner);
    return body;
  };
  for (let at = 0; at < 8; at++) read(`a${at}`, (40 + at) * K);
  const processed = whole(budget, "b", 44 * K);
  read("c", 30 * K);
  assert.deepEqual(cancelled, ["a7"]);
  processed.release();
  read("d", 40 * K);
  assert.deepEqual(cancelled, ["a7"], "there was room");
  assert.throws(() => read("e", 100 * K), refusedWith("overloaded"), "it is the largest itself");
});

/** What one piece of a body takes beyond its bytes until the body is complete. */
const PIECE = 256;

Deno.test("limits hold to the byte: what fits exactly is accepted", () => {
  const limits = { bodyBytesTotalMax: 8_000, bodyBytesAccountMax: 1_000 };
  const own = new BodyBudget(1);
  own.take("a", 400, limits);
  own.take("a", 600, limits);
  assert.throws(() => own.take("a", 1, limits), refusedWith("concurrency_limit_exceeded"));

  const total = { bodyBytesTotalMax: 80_000, bodyBytesAccountMax: 10_000 };
  const full = new BodyBudget(1);
  whole(full, "a", 60_000, total);
  assert.equal(come(full, "b", 20_000 - PIECE, total).arrived, 20_000);
  const budget = new BodyBudget(1);
  whole(budget, "a", 79_000 - 11_000, total);
  whole(budget, "b", 11_000, total);
  const last = come(budget, "c", 1_000 - PIECE, total);
  assert.equal(last.arrived, 1_000);
  last.finishReading();
  // Full: a newcomer has an eighth of the total at most, and all of them a quarter of it beyond.
  whole(budget, "d", 10_000 - PIECE, total).release();
  assert.throws(() => come(budget, "d", 10_001 - PIECE, total), refusedWith("overloaded"));
  whole(budget, "e", 10_000 - PIECE, total);
  whole(budget, "f", 10_000 - PIECE, total);
  whole(budget, "g", 3 * PIECE - PIECE, total);
  assert.throws(() => come(budget, "h", 1, total), refusedWith("overloaded"));
  come(budget, "h", 0, total);
});

Deno.test("a newcomer has a mebibyte at most where the total is large", () => {
  const limits = { bodyBytesTotalMax: 100 * K, bodyBytesAccountMax: 100 * K };
  const budget = new BodyBudget(1);
  whole(budget, "a", 100 * K, limits);
  whole(budget, "b", 1024 * 1024 - PIECE, limits).release();
  assert.throws(
    () => come(budget, "b", 1024 * 1024 - PIECE + 1, limits),
    refusedWith("overloaded"),
  );
});

Deno.test("an account's other bodies count after one is released, and nothing is kept at the end", () => {
  const budget = new BodyBudget(1);
  const [first, second] = [whole(budget, "a", 20 * K), come(budget, "a", 20 * K)];
  assert.equal(budget.isEmpty, false);
  first.release();
  assert.throws(() => budget.take("a", 21 * K, LIMITS), refusedWith("concurrency_limit_exceeded"));
  second.finishReading();
  assert.equal(budget.isEmpty, false);
  second.release();
  assert.equal(budget.isEmpty, true);
  const aborted = come(budget, "a", 1 * K);
  aborted.release();
  assert.equal(budget.isEmpty, true);
});

Deno.test("of the largest account its largest body is aborted, whatever the order", () => {
  const bodies: [owner: string, bytes: number][] = [["a", 40], ["b", 70], ["a", 60], ["c", 80]];
  for (let turn = 0; turn < bodies.length; turn++) {
    const budget = new BodyBudget(1);
    const limits = { bodyBytesTotalMax: 256 * K, bodyBytesAccountMax: 256 * K };
    const cancelled: string[] = [];
    const order = [...bodies.slice(turn), ...bodies.slice(0, turn)];
    for (const [owner, bytes] of order) {
      const body = budget.take(owner, 0, { ...limits, bodyBytesTotalMax: 10_000 * K });
      body.arrive(bytes * K);
      body.onCancel = () => cancelled.push(`${owner} ${bytes}`);
    }
    come(budget, "d", 30 * K, limits).release();
    assert.deepEqual(cancelled, ["a 60"], `begun with ${order[0]}`);
  }
});

Deno.test("a body without bytes is not aborted, nor one of an account that has no more", () => {
  const budget = new BodyBudget(1);
  const limits = { bodyBytesTotalMax: 100 * K, bodyBytesAccountMax: 100 * K };
  whole(budget, "a", 99 * K, limits);
  let isCancelled = false;
  const empty = budget.take("a", 0, limits);
  empty.onCancel = () => isCancelled = true;
  assert.throws(() => come(budget, "b", 20 * K, limits), refusedWith("overloaded"));
  assert.equal(isCancelled, false);

  const even = new BodyBudget(1);
  const first = come(even, "a", 60 * K, limits);
  first.onCancel = () => isCancelled = true;
  assert.throws(() => come(even, "b", 60 * K, limits), refusedWith("overloaded"));
  assert.equal(isCancelled, false);
});

Deno.test("a body is completed while the process is above its limit", () => {
  const budget = new BodyBudget(1);
  const limits = { bodyBytesTotalMax: 32 * K, bodyBytesAccountMax: 32 * K };
  const large = come(budget, "a", 31.9 * K, limits);
  const small = whole(budget, "b", 0.9 * K, limits);
  large.finishReading();
  large.keep();
  small.release();
  large.release();
  assert.equal(budget.isEmpty, true);
});
