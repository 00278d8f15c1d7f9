import assert from "node:assert/strict";
import { Breaker } from "./breaker.ts";

Deno.test("the breaker opens after five consecutive failures, and one probe decides", () => {
  let now = 0;
  const breaker = new Breaker(() => now);
  for (let i = 0; i < 4; i++) breaker.recordFailure("a");
  assert.equal(breaker.allow("a"), true);
  breaker.recordFailure("a");
  assert.equal(breaker.allow("a"), false);
  assert.equal(breaker.getHealth("a").state, "open");
  assert.equal(breaker.allow("b"), true, "others go on");
  now = 5_000;
  assert.equal(breaker.allow("a"), true, "the probe");
  assert.equal(breaker.allow("a"), false, "one at a time");
  breaker.recordFailure("a");
  now = 14_000;
  assert.equal(breaker.allow("a"), false, "open for longer the second time");
  now = 15_000;
  assert.equal(breaker.allow("a"), true);
  breaker.recordSuccess("a");
  assert.equal(breaker.getHealth("a").state, "closed");
  assert.equal(breaker.allow("a"), true);
});

Deno.test("a success in between starts the count anew", () => {
  const breaker = new Breaker(() => 0);
  for (let i = 0; i < 20; i++) {
    breaker.recordFailure("a");
    breaker.recordFailure("a");
    breaker.recordSuccess("a");
  }
  assert.equal(breaker.allow("a"), true);
});

Deno.test("a pause that the upstream asks for opens the breaker at once", () => {
  let now = 0;
  const breaker = new Breaker(() => now);
  breaker.recordFailure("a", { retryAfterSeconds: 3 });
  assert.equal(breaker.allow("a"), false);
  assert.equal(breaker.secondsUntilRetry(["a"]), 3);
  now = 3_000;
  assert.equal(breaker.allow("a"), true);
});

Deno.test("a probe that was given up lets the next one probe", () => {
  let now = 0;
  const breaker = new Breaker(() => now);
  breaker.recordFailure("a", { retryAfterSeconds: 1 });
  now = 1_000;
  assert.equal(breaker.allow("a"), true);
  breaker.recordAbandoned("a");
  assert.equal(breaker.allow("a"), true);
});

Deno.test("failures of requests in flight when the breaker opened do not keep it open for longer", () => {
  let now = 0;
  const breaker = new Breaker(() => now);
  for (let i = 0; i < 12; i++) breaker.recordFailure("a");
  for (let i = 0; i < 12; i++) breaker.recordFailure("b", { retryAfterSeconds: 2 });
  assert.equal(breaker.secondsUntilRetry(["a"]), 5);
  assert.equal(breaker.secondsUntilRetry(["b"]), 2);
  now = 5_000;
  assert.equal(breaker.allow("b"), true);
  breaker.recordFailure("b");
  assert.equal(breaker.secondsUntilRetry(["b"]), 10, "the second open time, not the thirteenth");
});

const own = (account: string) => ({ cause: "request", account }) as const;

function opened(now: () => number, ...accounts: string[]): Breaker {
  const breaker = new Breaker(now);
  for (let n = 0; n < 5; n++) breaker.recordFailure("a", own(accounts[n % accounts.length]!));
  assert.equal(breaker.getHealth("a").state, "open");
  return breaker;
}

Deno.test("failures that requests may have caused open the breaker for their accounts only", () => {
  for (const accounts of [["mallory"], ["mallory", "mallory2", "mallory3"]]) {
    const breaker = opened(() => 0, ...accounts);
    for (const account of accounts) assert.equal(breaker.allowWhileOpen("a", account), false);
    assert.equal(breaker.allow("a", accounts[0]), false);
    assert.equal(breaker.allowWhileOpen("a", "bob"), true);
    breaker.recordFailure("a", own("bob"));
    assert.equal(breaker.allowWhileOpen("a", "bob"), false, "now it failed for bob too");
    assert.equal(breaker.allowWhileOpen("a", "carol"), true);
    breaker.recordSuccess("a");
    assert.equal(breaker.getHealth("a").state, "closed", "one success ends it");
  }
});

Deno.test("an account that sends every probe does not open the breaker for others", () => {
  let now = 0;
  const breaker = opened(() => now, "mallory", "bob");
  for (let n = 0; n < 20; n++) {
    now = breaker.getHealth("a").openUntil;
    assert.equal(breaker.allow("a", "mallory"), true, "the probe");
    assert.equal(breaker.allowWhileOpen("a", "mallory"), false, "and no more than the probe");
    assert.equal(breaker.allowWhileOpen("a", "bob"), true);
    breaker.recordFailure("a", own("mallory"));
    assert.equal(breaker.allowWhileOpen("a", "bob"), true);
  }
});

Deno.test("other accounts are allowed a few at a time, and all while one of them gets responses", () => {
  let now = 0;
  const breaker = opened(() => now, "mallory");
  const untrack = Array.from({ length: 10 }, () => breaker.trackWhileOpen("a"));
  assert.equal(breaker.allowWhileOpen("a", "bob"), false);
  untrack[0]!();
  assert.equal(breaker.allowWhileOpen("a", "bob"), true);
  breaker.trackWhileOpen("a");
  breaker.recordResponse("a", "mallory");
  assert.equal(breaker.allowWhileOpen("a", "bob"), false, "mallory failed since");
  breaker.recordResponse("a", "carol");
  assert.equal(breaker.allowWhileOpen("a", "bob"), true);
  now += 61_000;
  assert.equal(
    breaker.allowWhileOpen("a", "bob"),
    false,
    "a minute later it shows nothing any more",
  );
});

Deno.test("one outage among failures of requests opens the breaker for all accounts", () => {
  const breaker = opened(() => 0, "mallory");
  breaker.recordFailure("a", { account: "bob" });
  assert.equal(breaker.allowWhileOpen("a", "carol"), false);
  assert.equal(breaker.allow("a", "carol"), false);
});

const overload = (account: string, retryAfterSeconds?: number) =>
  ({ cause: "overload", account, retryAfterSeconds }) as const;

Deno.test("an overload of one account opens the breaker for it alone, of two accounts for all", () => {
  let now = 0;
  const breaker = new Breaker(() => now);
  breaker.recordFailure("a", overload("mallory", 60));
  assert.equal(breaker.getHealth("a").state, "open");
  assert.equal(breaker.allow("a", "mallory"), false);
  assert.equal(breaker.allowWhileOpen("a", "mallory"), false);
  assert.equal(breaker.allowWhileOpen("a", "bob"), true);
  now = 59_000;
  breaker.recordFailure("a", overload("bob", 60));
  assert.equal(breaker.allowWhileOpen("a", "carol"), false, "two accounts got it");
  assert.equal(breaker.allowWhileOpen("a"), false);
  now = 61_000;
  assert.equal(breaker.allowWhileOpen("a", "carol"), true, "two within a minute, not ever");
  assert.equal(breaker.allowWhileOpen("a", "bob"), false);
});

Deno.test("accounts are allowed during an overload while another account gets responses", () => {
  let now = 0;
  const breaker = new Breaker(() => now);
  breaker.recordResponse("a", "carol");
  breaker.recordFailure("a", overload("mallory", 60));
  breaker.recordFailure("a", overload("mallory2", 60));
  assert.equal(breaker.allowWhileOpen("a", "carol"), true);
  assert.equal(breaker.allowWhileOpen("a", "bob"), true);
  assert.equal(breaker.allowWhileOpen("a", "mallory"), false);
  breaker.recordFailure("a", overload("carol", 60));
  assert.equal(breaker.allowWhileOpen("a", "bob"), false, "carol's success is out of date");
  now = 60_000;
  assert.equal(breaker.allow("a", "bob"), true, "the probe");
});

Deno.test("five overloads without a pause named open the circuit breaker for their account", () => {
  const breaker = new Breaker(() => 0);
  for (let n = 0; n < 5; n++) breaker.recordFailure("a", overload("mallory"));
  assert.equal(breaker.allow("a", "mallory"), false);
  assert.equal(breaker.allowWhileOpen("a", "bob"), true);
  breaker.recordFailure("a", { account: "bob" });
  assert.equal(breaker.allowWhileOpen("a", "carol"), false, "an outage opens it for all");
});
