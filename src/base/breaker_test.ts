import assert from "node:assert/strict";
import { Breaker } from "./breaker.ts";

Deno.test("an upstream rests after five failures in a row, and one probe decides", () => {
  let now = 0;
  const breaker = new Breaker(() => now);
  for (let i = 0; i < 4; i++) breaker.failed("a");
  assert.equal(breaker.mayTry("a"), true);
  breaker.failed("a");
  assert.equal(breaker.mayTry("a"), false);
  assert.equal(breaker.healthOf("a").state, "open");
  assert.equal(breaker.mayTry("b"), true, "others go on");
  now = 5_000;
  assert.equal(breaker.mayTry("a"), true, "the probe");
  assert.equal(breaker.mayTry("a"), false, "one at a time");
  breaker.failed("a");
  now = 14_000;
  assert.equal(breaker.mayTry("a"), false, "rests longer the second time");
  now = 15_000;
  assert.equal(breaker.mayTry("a"), true);
  breaker.succeeded("a");
  assert.equal(breaker.healthOf("a").state, "closed");
  assert.equal(breaker.mayTry("a"), true);
});

Deno.test("a success in between starts the count anew", () => {
  const breaker = new Breaker(() => 0);
  for (let i = 0; i < 20; i++) {
    breaker.failed("a");
    breaker.failed("a");
    breaker.succeeded("a");
  }
  assert.equal(breaker.mayTry("a"), true);
});

Deno.test("an upstream that names its rest gets it, at once", () => {
  let now = 0;
  const breaker = new Breaker(() => now);
  breaker.failed("a", 3);
  assert.equal(breaker.mayTry("a"), false);
  assert.equal(breaker.secondsUntil(["a"]), 3);
  now = 3_000;
  assert.equal(breaker.mayTry("a"), true);
});

Deno.test("a probe that was given up lets the next one probe", () => {
  let now = 0;
  const breaker = new Breaker(() => now);
  breaker.failed("a", 1);
  now = 1_000;
  assert.equal(breaker.mayTry("a"), true);
  breaker.abandoned("a");
  assert.equal(breaker.mayTry("a"), true);
});

Deno.test("failures that were under way when the rest began do not make it longer", () => {
  let now = 0;
  const breaker = new Breaker(() => now);
  for (let i = 0; i < 12; i++) breaker.failed("a");
  for (let i = 0; i < 12; i++) breaker.failed("b", 2);
  assert.equal(breaker.secondsUntil(["a"]), 5);
  assert.equal(breaker.secondsUntil(["b"]), 2);
  now = 5_000;
  assert.equal(breaker.mayTry("b"), true);
  breaker.failed("b");
  assert.equal(breaker.secondsUntil(["b"]), 10, "the second rest, not the thirteenth");
});
