import assert from "node:assert/strict";
import { Refusal } from "../base/refusal.ts";
import { BodyBudget } from "./body_budget.ts";

const LIMITS = { bodyBytesTotalMax: 100, bodyBytesAccountMax: 40 };
const refusedWith = (code: string) => (error: unknown) =>
  error instanceof Refusal && error.code === code && error.retryAfterSeconds === 1;

Deno.test("an account has its share of the bytes, and the process a limit for all", () => {
  const budget = new BodyBudget(1);
  const first = budget.take("a", 30, LIMITS);
  assert.throws(() => budget.take("a", 20, LIMITS), refusedWith("concurrency_limit_exceeded"));
  budget.take("b", 40, LIMITS);
  const third = budget.take("c", 20, LIMITS);
  assert.throws(() => budget.take("d", 20, LIMITS), refusedWith("overloaded"));
  first.release();
  first.release();
  budget.take("a", 40, LIMITS);
  third.release();
  assert.throws(() => budget.take("d", 21, LIMITS), refusedWith("overloaded"), "released once");
});

Deno.test("a body of unknown length is refused where it outgrows what is left", () => {
  const budget = new BodyBudget(1);
  const body = budget.take("a", 0, LIMITS);
  body.grow(40);
  assert.throws(() => body.grow(1), refusedWith("concurrency_limit_exceeded"));
  body.release();
  budget.take("a", 40, LIMITS);
});

Deno.test("what a stream keeps of its request counts for less, until the stream ends", () => {
  const budget = new BodyBudget(1);
  const streams = Array.from({ length: 4 }, () => {
    const body = budget.take("a", 10, LIMITS);
    body.keep();
    return body;
  });
  const last = budget.take("a", 28, LIMITS);
  assert.throws(() => budget.take("a", 1, LIMITS), refusedWith("concurrency_limit_exceeded"));
  for (const body of [...streams, last]) body.release();
  budget.take("a", 40, LIMITS);
});

Deno.test("threads share the limit of the process; a single body always fits", () => {
  const budget = new BodyBudget(4);
  const large = budget.take("a", 90, LIMITS);
  assert.throws(() => budget.take("b", 1, LIMITS), refusedWith("overloaded"));
  large.release();
  budget.take("b", 20, LIMITS);
  assert.throws(() => budget.take("c", 10, LIMITS), refusedWith("overloaded"));
});
