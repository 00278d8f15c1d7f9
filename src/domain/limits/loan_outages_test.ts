import assert from "node:assert/strict";
import { openRateNode } from "../../../test/helpers/rate_node.ts";
import { MINUTE_MS } from "./limiter.ts";

Deno.test("without the database a node goes on with its share, and says so once", async () => {
  await using node = openRateNode();
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
  await using node = openRateNode();
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
  await using node = openRateNode();
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
  await using node = openRateNode();
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
  await using node = openRateNode();
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
  await using node = openRateNode();
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
