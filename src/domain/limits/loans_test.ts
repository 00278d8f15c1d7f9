import assert from "node:assert/strict";
import { type FakeTime, fakeTime } from "../../../test/helpers/fake_time.ts";
import type { Queries } from "../../platform/database/database.ts";
import { ConnectionError } from "../../platform/database/storage_error.ts";
import { MINUTE_MS } from "./limiter.ts";
import type { LoanRequest } from "./rate_loans.ts";
import { SharedRateLimiter } from "./shared_rate.ts";

/** What a test sees of a node: one whose database is a model of `rate_lend`, in time that stands still. */
interface Node extends AsyncDisposable {
  limiter: SharedRateLimiter;
  time: FakeTime;
  /** Each query, as the loans it asked for. */
  queries: LoanRequest[][];
  warnings: string[];
  errors: number;
  deletions: number;
  /** Until a bucket is full again; other nodes may change it. */
  levels: Map<string, number>;
  database: "up" | "down" | "gone" | "hangs" | "slow";
  /** Lets a slow database answer. */
  answer(): Promise<void>;
  nodes: number;
  /** Takes one of `perMinute`, and answers whether it passed and how many are left. */
  take(perMinute: number, amount?: number, key?: string): Promise<[allowed: boolean, left: number]>;
  /** The same, if it needs no query. */
  readonly size: number;
  takeNow(perMinute: number, amount?: number): boolean | "asks";
}

function openNode(): Node {
  const time = fakeTime();
  const fullAt = new Map<string, number>();
  const slow: (() => void)[] = [];
  const lend = (asks: LoanRequest[]) =>
    asks.map(({ key, settle, need, want }, i) => {
      const now = performance.now();
      const level = Math.max(0, Math.max(0, (fullAt.get(key) ?? 0) - now) + settle);
      const lent = MINUTE_MS - level + 1e-3 >= need
        ? Math.min(want, Math.max(MINUTE_MS - level, need))
        : 0;
      fullAt.set(key, now + level + lent);
      return { n: i + 1, lent, level: level + lent };
    });
  const sql = (strings: TemplateStringsArray, ...values: unknown[]) => {
    if (strings[0]!.includes("delete from rate_bucket")) {
      node.deletions++;
      return Promise.resolve([]);
    }
    const [keys, settles, needs, wants] = values as [string[], number[], number[], number[]];
    const asks = keys.map((key, i) => ({
      key,
      settle: settles[i]!,
      need: needs[i]!,
      want: wants[i]!,
    }));
    node.queries.push(asks);
    switch (node.database) {
      case "hangs":
        return new Promise(() => {});
      case "down":
        return Promise.reject(new Error("no function rate_lend"));
      case "gone":
        return Promise.reject(new ConnectionError("CONNECTION_CLOSED", "away"));
      case "slow":
        return new Promise((resolve) => slow.push(() => resolve(lend(asks))));
      case "up":
        return Promise.resolve(lend(asks));
    }
  };
  const log = {
    warn: (text: string) => void node.warnings.push(text),
    error: () => void node.errors++,
  };
  const limiter = new SharedRateLimiter(sql as unknown as Queries, {
    nodes: () => node.nodes,
    log,
  });
  const node: Node = {
    limiter,
    time,
    queries: [],
    warnings: [],
    errors: 0,
    deletions: 0,
    levels: fullAt,
    database: "up",
    nodes: 1,
    async take(perMinute, amount = 1, key = "key") {
      const taking = limiter.take(key, perMinute, amount, performance.now());
      if (taking instanceof Promise) await time.advance(0);
      const { allowed, remaining } = await taking;
      return [allowed, remaining];
    },
    get size() {
      return limiter.size;
    },
    takeNow(perMinute, amount = 1) {
      const taken = limiter.take("key", perMinute, amount, performance.now());
      return taken instanceof Promise ? "asks" : taken.allowed;
    },
    async answer() {
      for (const resolve of slow.splice(0)) resolve();
      await time.advance(0);
    },
    async [Symbol.asyncDispose]() {
      node.database = "up";
      const closing = limiter[Symbol.asyncDispose]();
      await time.advance(2_000);
      await closing;
      time[Symbol.dispose]();
    },
  };
  return node;
}

Deno.test("the first request borrows what it needs, a busy key a second ahead", async () => {
  await using node = openNode();
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
  await using node = openNode();
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
  await using node = openNode();
  await node.take(600);
  await node.take(600);
  await node.take(600, 15);
  assert.deepEqual(node.queries.at(-1), [{ key: "key", settle: 0, need: 500, want: 1_500 }]);
});

Deno.test("requests of one moment share a query and are served in order", async () => {
  await using node = openNode();
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
  await using node = openNode();
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
  await using node = openNode();
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
  await using node = openNode();
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
  await using node = openNode();
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
  await using node = openNode();
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
  const node = openNode();
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
  await using node = openNode();
  await node.take(600);
  await node.take(600);
  const now = performance.now();
  const large = node.limiter.take("key", 600, 50, now);
  assert.ok(node.limiter.take("key", 600, 1, now) instanceof Promise);
  await node.time.advance(0);
  assert.equal((await large).allowed, true);
});

Deno.test("requests that come one upon the other are all answered", async () => {
  await using node = openNode();
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
  await using node = openNode();
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

Deno.test("without the database a node goes on with its share, and says so once", async () => {
  await using node = openNode();
  node.nodes = 3;
  await node.take(90, 30);
  node.database = "down";
  let passed = 0;
  for (let n = 0; n < 90; n++) if ((await node.take(90))[0]) passed++;
  assert.equal(passed, 20, "a third of ninety, as full as the whole was");
  assert.equal(node.warnings.length, 1);
  assert.equal(node.queries.length, 2, "it does not ask each time");
  const { limit } = await node.limiter.take("key", 90, 1, performance.now());
  assert.equal(limit, 90);

  node.database = "up";
  await node.time.advance(1_100);
  await node.take(90);
  const reported = node.queries.flat().reduce((sum, { settle }) => sum + settle, 0);
  assert.ok(Math.abs(reported - 20 * MINUTE_MS / 90) < 1_000, `${reported} ms were reported`);
  assert.equal(node.warnings.length, 1);
  assert.equal(node.errors, 1, "a database that answers with an error is a defect");
});

Deno.test("an outage is told once, however long it is, and the next one again", async () => {
  await using node = openNode();
  for (const warnings of [1, 2]) {
    node.database = "gone";
    let passed = 0;
    for (let n = 0; n < 5; n++) {
      if ((await node.take(600, 2))[0]) passed++;
      const queries = node.queries.length;
      await node.time.advance(999);
      await node.take(600);
      assert.equal(node.queries.length, queries, "not before a second is over");
      await node.time.advance(1);
    }
    assert.equal(passed, 5, "one node has the whole rate");
    assert.equal(node.warnings.length, warnings);
    node.database = "up";
    assert.equal((await node.take(600))[0], true);
    await node.time.advance(70_000);
  }
  assert.equal(node.errors, 0, "other parts log outages");
  const reported = node.queries.flat().filter(({ settle }) => settle > 0);
  const most = Math.max(...reported.map(({ settle }) => settle));
  assert.ok(most >= 1_400, `${most} ms: what passed meanwhile, and what could not be reported`);
});

Deno.test("each outage begins with what is left then", async () => {
  await using node = openNode();
  node.database = "gone";
  assert.equal((await node.take(90))[0], true);
  node.database = "up";
  await node.time.advance(1_000);
  assert.equal((await node.take(90, 89))[0], true);
  node.database = "gone";
  await node.time.advance(1_001);
  assert.equal((await node.take(90, 5))[0], false);
});

Deno.test("what a failed query should have reported is reported by the next", async () => {
  await using node = openNode();
  await node.take(600);
  node.limiter.owe("key", 600, 5, performance.now());
  node.database = "gone";
  await node.time.advance(1_000);
  assert.equal(node.queries.at(-1)![0]!.settle, 500);
  node.database = "up";
  await node.time.advance(1_000);
  assert.equal(node.queries.at(-1)![0]!.settle, 500);
});

Deno.test("a share is at least one request", async () => {
  await using node = openNode();
  node.nodes = 50;
  node.database = "down";
  assert.equal((await node.take(10))[0], true);
  assert.equal((await node.take(10))[0], false);
  node.nodes = 0;
  assert.equal((await node.take(10, 20, "other"))[0], true, "no more than the share is asked for");
  node.nodes = 1;
  assert.equal((await node.take(10, 6, "third"))[1], 4, "one node has the whole rate");
});

Deno.test("a database that does not answer within a second is as good as none", async () => {
  await using node = openNode();
  node.nodes = 2;
  node.database = "hangs";
  const taking = node.limiter.take("key", 100, 1, performance.now());
  let isAnswered = false;
  Promise.resolve(taking).then(() => isAnswered = true);
  await node.time.advance(999);
  assert.equal(isAnswered, false);
  await node.time.advance(1);
  assert.deepEqual([(await taking).allowed, (await taking).remaining], [true, 49]);
  assert.equal(node.takeNow(100), true, "the next ones do not wait");
  assert.equal(node.warnings.length, 1);
});

Deno.test("at most 500 keys are asked for in one query, the others in the next", async () => {
  await using node = openNode();
  const now = performance.now();
  const taking = Array.from({ length: 501 }, (_, n) => node.limiter.take(`key ${n}`, 60, 1, now));
  await node.time.advance(0);
  await Promise.all(taking);
  assert.deepEqual(node.queries.map(({ length }) => length), [500, 1]);
});

Deno.test("rows of full buckets are deleted once a minute", async () => {
  await using node = openNode();
  await node.time.advance(60_000);
  assert.equal(node.deletions, 0);
  await node.time.advance(1_000);
  assert.equal(node.deletions, 1);
  await node.time.advance(61_000);
  assert.equal(node.deletions, 2);
});
