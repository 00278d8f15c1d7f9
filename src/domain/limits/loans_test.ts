import assert from "node:assert/strict";
import { openRateNode } from "../../../test/helpers/rate_node.ts";

Deno.test("the first request borrows what it needs, a busy key a second ahead", async () => {
  await using node = openRateNode();
  assert.deepEqual(await node.take(600), [true, 599]);
  assert.deepEqual(node.queries.at(-1), [{ key: "key", settle: 0, need: 100, want: 100 }]);
  assert.deepEqual(await node.take(600), [true, 598]);
  assert.deepEqual(node.queries.at(-1), [{ key: "key", settle: 0, need: 100, want: 1_100 }]);
  for (let left = 597; left >= 588; left--) {
    assert.equal(node.takeNow(600), true);
  }
  assert.equal(node.queries.length, 2, "ten were borrowed");
  assert.deepEqual(await node.take(600), [true, 587]);
  assert.equal(node.queries.length, 3);
});

Deno.test("a key that is asked for less than once a second, or costs much, borrows nothing ahead", async () => {
  await using node = openRateNode();
  await node.take(600);
  await node.time.advance(1_000);
  await node.take(600);
  assert.equal(node.queries.at(-1)![0]!.want, 100);
  await node.take(60);
  assert.equal(node.queries.at(-1)![0]!.want, 1_000, "one takes a second to refill");
  await node.take(120);
  assert.equal(node.queries.at(-1)![0]!.want, 1_500, "two a second are busy");
});

Deno.test("only what is missing in the loan is asked for, also for many at once", async () => {
  await using node = openRateNode();
  await node.take(600);
  await node.take(600);
  await node.take(600, 15);
  assert.deepEqual(node.queries.at(-1), [{ key: "key", settle: 0, need: 500, want: 1_500 }]);
});

Deno.test("requests of one moment share a query and are served in order", async () => {
  await using node = openRateNode();
  const now = performance.now();
  const all = [50, 20, 40].map((amount) => node.limiter.take("key", 100, amount, now));
  const other = node.limiter.take("other", 100, 1, now);
  await node.time.advance(0);
  assert.deepEqual((await Promise.all(all)).map(({ allowed }) => allowed), [true, true, false]);
  assert.equal((await other).allowed, true);
  assert.equal(node.queries.length, 1);
  assert.deepEqual(node.queries[0]!.map(({ key, need, want }) => [key, need, want]), [
    ["key", 12_000, 66_000],
    ["other", 600, 600],
  ]);
  assert.deepEqual((await Promise.all(all)).map(({ remaining }) => remaining), [50, 30, 30]);
});

Deno.test("a rejection holds without a query, until some refills or a second is over", async () => {
  await using node = openRateNode();
  assert.deepEqual(await node.take(10, 10), [true, 0]);
  assert.deepEqual(await node.take(10), [false, 0]);
  const before = node.queries.length;
  assert.equal(node.takeNow(10), false);
  await node.time.advance(1_000);
  assert.equal(node.takeNow(10), false);
  assert.equal(node.queries.length, before);
  // Another node returned what it had borrowed.
  node.levels.set("key", 0);
  await node.time.advance(1);
  assert.deepEqual(await node.take(10), [true, 9]);
});

Deno.test("a key at its limit asks once in ten milliseconds", async () => {
  await using node = openRateNode();
  await node.take(60_000, 59_999);
  // One is left, and a second ahead is more than there is.
  assert.deepEqual(await node.take(60_000), [true, 0]);
  assert.equal(node.takeNow(60_000), false);
  await node.time.advance(9);
  assert.equal(node.takeNow(60_000), false, "nine have refilled, but not for certain");
  await node.time.advance(1);
  assert.equal((await node.take(60_000))[0], true);
});

Deno.test("what is owed is reported within a second, and counts at once in this node", async () => {
  await using node = openRateNode();
  await node.take(100);
  node.limiter.owe("key", 100, 149, performance.now());
  assert.equal(node.takeNow(100), false);
  await node.time.advance(1_000);
  assert.deepEqual(node.queries.at(-1), [{ key: "key", settle: 89_400, need: 0, want: 0 }]);
  const refused = await node.limiter.take("key", 100, 1, performance.now());
  assert.deepEqual([refused.allowed, refused.retryAfterSeconds], [false, 30]);
  const queries = node.queries.length;
  await node.time.advance(3_000);
  assert.equal(node.queries.length, queries, "once");
});

Deno.test("an idle key returns its loan, and is forgotten when its bucket is full", async () => {
  await using node = openRateNode();
  await node.take(600);
  await node.take(600);
  await node.time.advance(1_000);
  assert.equal(node.queries.length, 2, "it was used since the last round");
  await node.time.advance(1_000);
  assert.deepEqual(node.queries.at(-1), [{ key: "key", settle: -1_000, need: 0, want: 0 }]);
  assert.deepEqual(await node.take(600), [true, 599]);
  await node.time.advance(1_500);
  assert.equal(node.size, 1);
  await node.time.advance(100_000);
  assert.equal(node.queries.length, 5, "and nothing is returned twice");
  assert.equal(node.size, 0);
});

Deno.test("a key is kept until its bucket is full, and its loan as long as it is used", async () => {
  await using node = openRateNode();
  await node.take(10, 1);
  await node.time.advance(5_999);
  assert.equal(node.size, 1, "six seconds take six seconds to refill");
  await node.time.advance(2_000);
  assert.equal(node.size, 0);

  await node.take(600);
  await node.take(600);
  const queries = node.queries.length;
  for (let n = 0; n < 5; n++) {
    assert.equal(node.takeNow(600), true);
    await node.time.advance(900);
  }
  assert.equal(node.queries.length, queries);
});

Deno.test("a node that stops returns what it borrowed", async () => {
  const node = openRateNode();
  await node.take(600);
  await node.take(600);
  node.database = "slow";
  let isClosed = false;
  const closing = node.limiter[Symbol.asyncDispose]().then(() => isClosed = true);
  await node.time.advance(0);
  assert.deepEqual(node.queries.at(-1), [{ key: "key", settle: -1_000, need: 0, want: 0 }]);
  assert.equal(isClosed, false, "it waits for the database");
  await node.answer();
  await closing;
  assert.equal(node.time.timers, 0);
  const queries = node.queries.length;
  await node.limiter[Symbol.asyncDispose]();
  assert.equal(node.queries.length, queries, "there is nothing more to return");
  node.time[Symbol.dispose]();
});

Deno.test("no request overtakes one that waits for the same key", async () => {
  await using node = openRateNode();
  await node.take(600);
  await node.take(600);
  const now = performance.now();
  const large = node.limiter.take("key", 600, 50, now);
  assert.ok(node.limiter.take("key", 600, 1, now) instanceof Promise);
  await node.time.advance(0);
  assert.equal((await large).allowed, true);
});

Deno.test("requests that come one upon the other are all answered", async () => {
  await using node = openRateNode();
  let answered = 0;
  const burst = async () => {
    for (let n = 0; n < 5; n++) {
      await node.limiter.take("key", 60, 1, performance.now());
      answered++;
    }
  };
  burst();
  await node.time.advance(0);
  assert.equal(answered, 5);
});

Deno.test("one query at a time: what comes meanwhile shares the next, and is not refused by the first", async () => {
  await using node = openRateNode();
  node.database = "slow";
  const take = (amount: number) => node.limiter.take("key", 100, amount, performance.now());
  const first = take(10);
  await node.time.advance(0);
  const later = [take(20), take(30)];
  await node.time.advance(0);
  assert.equal(node.queries.length, 1);
  await node.answer();
  assert.equal((await first).allowed, true);
  assert.equal(node.queries.length, 2);
  await node.answer();
  assert.deepEqual((await Promise.all(later)).map(({ allowed }) => allowed), [true, true]);
});

Deno.test("at most 500 keys are asked for in one query, the others in the next", async () => {
  await using node = openRateNode();
  const now = performance.now();
  const taking = Array.from({ length: 501 }, (_, n) => node.limiter.take(`key ${n}`, 60, 1, now));
  await node.time.advance(0);
  await Promise.all(taking);
  assert.deepEqual(node.queries.map(({ length }) => length), [500, 1]);
});

Deno.test("rows of full buckets are deleted once a minute", async () => {
  await using node = openRateNode();
  await node.time.advance(60_000);
  assert.equal(node.deletions, 0);
  await node.time.advance(1_000);
  assert.equal(node.deletions, 1);
  await node.time.advance(61_000);
  assert.equal(node.deletions, 2);
});
