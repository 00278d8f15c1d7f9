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
