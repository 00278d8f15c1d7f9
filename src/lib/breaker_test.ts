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
  breaker.failed("a", { restSeconds: 3 });
  assert.equal(breaker.mayTry("a"), false);
  assert.equal(breaker.secondsUntil(["a"]), 3);
  now = 3_000;
  assert.equal(breaker.mayTry("a"), true);
});

Deno.test("a probe that was given up lets the next one probe", () => {
  let now = 0;
  const breaker = new Breaker(() => now);
  breaker.failed("a", { restSeconds: 1 });
  now = 1_000;
  assert.equal(breaker.mayTry("a"), true);
  breaker.abandoned("a");
  assert.equal(breaker.mayTry("a"), true);
});

Deno.test("failures that were under way when the rest began do not make it longer", () => {
  let now = 0;
  const breaker = new Breaker(() => now);
  for (let i = 0; i < 12; i++) breaker.failed("a");
  for (let i = 0; i < 12; i++) breaker.failed("b", { restSeconds: 2 });
  assert.equal(breaker.secondsUntil(["a"]), 5);
  assert.equal(breaker.secondsUntil(["b"]), 2);
  now = 5_000;
  assert.equal(breaker.mayTry("b"), true);
  breaker.failed("b");
  assert.equal(breaker.secondsUntil(["b"]), 10, "the second rest, not the thirteenth");
});

const own = (account: string) => ({ cause: "request", account }) as const;

function opened(now: () => number, ...accounts: string[]): Breaker {
  const breaker = new Breaker(now);
  for (let n = 0; n < 5; n++) breaker.failed("a", own(accounts[n % accounts.length]!));
  assert.equal(breaker.healthOf("a").state, "open");
  return breaker;
}

Deno.test("failures that requests may have caused keep out the accounts that had them, and no others", () => {
  for (const accounts of [["mallory"], ["mallory", "mallory2", "mallory3"]]) {
    const breaker = opened(() => 0, ...accounts);
    for (const account of accounts) assert.equal(breaker.mayKnock("a", account), false);
    assert.equal(breaker.mayTry("a", accounts[0]), false);
    assert.equal(breaker.mayKnock("a", "bob"), true);
    breaker.failed("a", own("bob"));
    assert.equal(breaker.mayKnock("a", "bob"), false, "now it failed for bob too");
    assert.equal(breaker.mayKnock("a", "carol"), true);
    breaker.succeeded("a");
    assert.equal(breaker.healthOf("a").state, "closed", "one success ends it");
  }
});

Deno.test("an account that takes every probe keeps no other account out", () => {
  let now = 0;
  const breaker = opened(() => now, "mallory", "bob");
  for (let n = 0; n < 20; n++) {
    now = breaker.healthOf("a").restUntil;
    assert.equal(breaker.mayTry("a", "mallory"), true, "the probe");
    assert.equal(breaker.mayKnock("a", "mallory"), false, "and no more than the probe");
    assert.equal(breaker.mayKnock("a", "bob"), true);
    breaker.failed("a", own("mallory"));
    assert.equal(breaker.mayKnock("a", "bob"), true);
  }
});

Deno.test("a few accounts at a time try an upstream that serves none, and all while it serves one", () => {
  let now = 0;
  const breaker = opened(() => now, "mallory");
  const leave = Array.from({ length: 10 }, () => breaker.startTrial("a"));
  assert.equal(breaker.mayKnock("a", "bob"), false);
  leave[0]!();
  assert.equal(breaker.mayKnock("a", "bob"), true);
  breaker.startTrial("a");
  breaker.served("a", "mallory");
  assert.equal(breaker.mayKnock("a", "bob"), false, "mallory failed since");
  breaker.served("a", "carol");
  assert.equal(breaker.mayKnock("a", "bob"), true);
  now += 61_000;
  assert.equal(breaker.mayKnock("a", "bob"), false, "a minute later it shows nothing any more");
});

Deno.test("one outage among failures of requests keeps everybody out", () => {
  const breaker = opened(() => 0, "mallory");
  breaker.failed("a", { account: "bob" });
  assert.equal(breaker.mayKnock("a", "carol"), false);
  assert.equal(breaker.mayTry("a", "carol"), false);
});

const overload = (account: string, restSeconds?: number) =>
  ({ cause: "overload", account, restSeconds }) as const;

Deno.test("an overload that one account met keeps out that account alone, two accounts' keeps out all", () => {
  let now = 0;
  const breaker = new Breaker(() => now);
  breaker.failed("a", overload("mallory", 60));
  assert.equal(breaker.healthOf("a").state, "open");
  assert.equal(breaker.mayTry("a", "mallory"), false);
  assert.equal(breaker.mayKnock("a", "mallory"), false);
  assert.equal(breaker.mayKnock("a", "bob"), true);
  now = 59_000;
  breaker.failed("a", overload("bob", 60));
  assert.equal(breaker.mayKnock("a", "carol"), false, "two accounts met it");
  assert.equal(breaker.mayKnock("a"), false);
  now = 61_000;
  assert.equal(breaker.mayKnock("a", "carol"), true, "two within a minute, not ever");
  assert.equal(breaker.mayKnock("a", "bob"), false);
});

Deno.test("accounts may try an overloaded upstream while another account is served", () => {
  let now = 0;
  const breaker = new Breaker(() => now);
  breaker.served("a", "carol");
  breaker.failed("a", overload("mallory", 60));
  breaker.failed("a", overload("mallory2", 60));
  assert.equal(breaker.mayKnock("a", "carol"), true);
  assert.equal(breaker.mayKnock("a", "bob"), true);
  assert.equal(breaker.mayKnock("a", "mallory"), false);
  breaker.failed("a", overload("carol", 60));
  assert.equal(breaker.mayKnock("a", "bob"), false, "carol's success is out of date");
  now = 60_000;
  assert.equal(breaker.mayTry("a", "bob"), true, "the probe");
});

Deno.test("five overloads without a pause named open the circuit breaker for their account", () => {
  const breaker = new Breaker(() => 0);
  for (let n = 0; n < 5; n++) breaker.failed("a", overload("mallory"));
  assert.equal(breaker.mayTry("a", "mallory"), false);
  assert.equal(breaker.mayKnock("a", "bob"), true);
  breaker.failed("a", { account: "bob" });
  assert.equal(breaker.mayKnock("a", "carol"), false, "an outage keeps out all");
});
